/** Converts a response request to a call of the engine contract. */
import type { ChatCall } from '../../../engines/contract/index.ts';
import type { ItemStore } from '../../chat/item-store.ts';
import { requireSupport, supports } from '../../engine-host/models/model-selection.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import type { PlannedChat } from '../chat-request.ts';
import { requireImages } from '../content-parts.ts';
import { unsupportedParameter, UnsupportedValue } from '../errors.ts';
import { fieldsWith } from '../field-table.ts';
import type { Schemas } from '../operations.ts';
import { toMessages } from './input.ts';
import { toTools, type ResponseTools } from './tools.ts';

type Request = Schemas['ResponseRequest'];

export interface PlannedResponse extends PlannedChat, Pick<ResponseTools, 'inNamespace'> {}

/**
 * Throws for fields that the model does not support. Only fields that do not change the form or meaning of the answer
 * are ignored.
 */
export function toCall(body: Request, model: ServedModel<'chat'>, items: ItemStore | undefined): PlannedResponse {
  refuseUnsupported(body);
  const { messages, toolField, imageField } = toMessages(body, items);
  if (imageField) requireImages(model, imageField);
  const { inNamespace, ignored: droppedTools, ...callerTools } = toTools(body);
  if (callerTools.tools) requireSupport(model, 'tools', '/tools');
  if (toolField) requireSupport(model, 'tools', toolField);
  const isForwarded = supports(model, 'json');
  const format = responseFormat(body);
  if (format && !isForwarded) throw unsupportedParameter('/text/format', `is not supported by the model "${model.id}"`);
  const { reasoning, parallel_tool_calls: parallel, temperature, max_output_tokens: maxTokens, top_p: topP } = body;
  const provider: NonNullable<ChatCall['provider']> = {
    ...(format && { response_format: format }),
    ...(reasoning?.effort != null && { reasoning_effort: reasoning.effort }),
    ...(parallel != null && { parallel_tool_calls: parallel }),
  };
  const call = {
    messages,
    ...callerTools,
    ...(temperature != null && { temperature }),
    ...(maxTokens != null && { maxTokens }),
    ...(topP != null && { topP }),
    ...(isForwarded && Object.keys(provider).length > 0 && { provider }),
  };
  return {
    call,
    isCallersLoop: callerTools.tools !== undefined || toolField !== undefined,
    inNamespace,
    ignored: [...(isForwarded ? [] : droppedIn(body)), ...hintsIn(body), ...droppedTools],
  };
}

// --------------------------------------------------------------------------------------------------- unsupported

const wholeConversation = 'is not supported: send the whole conversation as input';

const unsupported = {
  previous_response_id: wholeConversation,
  conversation: wholeConversation,
  prompt: 'is not supported',
  background: 'must be false',
  top_logprobs: 'must be 0',
  max_tool_calls: 'is not supported',
} as const;

/** Throws for unsupported fields. Clients send null, false, 0 and "" for options that are not set. */
function refuseUnsupported(body: Request): void {
  for (const [name, rule] of Object.entries(unsupported)) {
    const value = body[name as keyof typeof unsupported];
    if (value != null && value !== false && value !== 0 && value !== '') throw unsupportedParameter(`/${name}`, rule);
  }
  if (body.include?.some((what) => what !== 'reasoning.encrypted_content')) {
    throw new UnsupportedValue('/include', 'must be ["reasoning.encrypted_content"]');
  }
}

// --------------------------------------------------------------------------------------------------------- format

/**
 * Converts `text.format` to the `response_format` of chat completions, which nests the schema. Returns undefined for
 * plain text.
 */
function responseFormat({ text }: Request): Readonly<Record<string, unknown>> | undefined {
  const { type, ...schema } = text?.format ?? {};
  if (type == null || type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type === 'json_schema') return { type, json_schema: schema };
  throw new UnsupportedValue('/text/format/type', 'must be text, json_object or json_schema');
}

// -------------------------------------------------------------------------------------------------------- ignored

function droppedIn({ reasoning, parallel_tool_calls: parallel }: Request): readonly string[] {
  return [
    ...(reasoning?.effort != null ? ['reasoning.effort'] : []),
    ...(parallel != null ? ['parallel_tool_calls'] : []),
  ];
}

const hints = fieldsWith('createResponse', 'ignored').filter((name) => name !== 'text.verbosity');

function hintsIn(body: Request): readonly string[] {
  return [
    ...(body.text?.verbosity != null ? ['text.verbosity'] : []),
    ...(body.store === true ? ['store'] : []),
    ...(body.truncation === 'auto' ? ['truncation'] : []),
    ...hints.filter((name) => body[name] != null),
    ...(body.tools?.some(({ strict }) => strict === true) ? ['strict'] : []),
  ];
}
