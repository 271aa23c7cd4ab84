/** The caller's further fields (`ChatCall.provider`), in the format of each API. */
import { providerFields, type ChatCall, type ProviderField } from '../contract/index.ts';
import { isObject, textOf, type JsonObject } from '../../lib/json.ts';
import { notSupported } from './caller-tools.ts';
import type { Model } from './models.ts';

/** Null means the default, as in OpenAI's API. Without tools, OpenAI rejects `parallel_tool_calls`. */
export function chatFields(
  { provider = {} }: ChatCall,
  hasTools: boolean,
): Readonly<Partial<Record<ProviderField, unknown>>> {
  const sent = providerFields.filter(
    (name) => Object.hasOwn(provider, name) && provider[name] != null && (hasTools || name !== 'parallel_tool_calls'),
  );
  return Object.fromEntries(sent.map((name) => [name, provider[name]]));
}

/** Throws `parameter-not-supported` for a field that /responses does not have. */
export function responsesFields(call: ChatCall, hasTools: boolean, { id }: Pick<Model, 'id'>): JsonObject {
  const { response_format, reasoning_effort, parallel_tool_calls, ...others } = chatFields(call, hasTools);
  const unknown = Object.entries(others).find(([name, value]) => !isNeutral(name, value));
  if (unknown !== undefined) throw notSupported(id, unknown[0]);
  return {
    ...(response_format !== undefined && { text: { format: textFormat(response_format, id) } }),
    ...(reasoning_effort !== undefined && { reasoning: { effort: reasoning_effort } }),
    ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
  };
}

/** Values that clients send when their user has set nothing: 0 for the penalties, [] and {}. */
function isNeutral(name: string, value: unknown): boolean {
  if (value === 0) return name.endsWith('_penalty');
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** In /responses, the schema is one level higher: `{type, name, schema, strict}`. */
function textFormat(format: unknown, model: string): JsonObject {
  if (!isObject(format)) throw notSupported(model, 'this response_format');
  const { type, json_schema: given } = format;
  switch (textOf(type)) {
    case 'text':
    case 'json_object':
      return { type };
    case 'json_schema':
      if (isObject(given)) return { ...given, type };
  }
  throw notSupported(model, 'this response_format');
}
