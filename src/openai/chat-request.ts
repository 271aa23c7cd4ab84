/** Converts a chat completion request to a call of the engine contract. */
import { providerFields, type ChatCall } from '../../engines/contract/index.ts';
import { requireSupport, supports } from '../engine-host/models/model-selection.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { legacy, toMessages } from './chat-messages.ts';
import { requireImages } from './content-parts.ts';
import { unsupportedParameter } from './errors.ts';
import { fieldsWith } from './field-table.ts';
import { toTools } from './chat-tools.ts';
import type { Schemas } from './operations.ts';

type Request = Schemas['ChatCompletionRequest'];

export interface PlannedChat {
  readonly call: Omit<ChatCall, 'model'>;
  /** True if the request has tools of the caller, or calls of them. The service's tools are then not offered. */
  readonly isCallersLoop: boolean;
  /** Request fields that have no effect. */
  readonly ignored: readonly string[];
}

/**
 * Throws for fields that the model does not support. Only fields that do not change the form or meaning of the answer
 * are ignored.
 */
export function toCall(body: Request, model: ServedModel<'chat'>): PlannedChat {
  refuseUnsupported(body);
  const { messages, toolField, imageField } = toMessages(body.messages);
  if (imageField) requireImages(model, imageField);
  const callerTools = toTools(body);
  if (callerTools.tools) requireSupport(model, 'tools', '/tools');
  if (toolField) requireSupport(model, 'tools', toolField);
  const provider = providerFieldsOf(body);
  const isForwarded = supports(model, 'json');
  if (!isForwarded) refuseForm(provider, model);
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const call = {
    messages,
    ...callerTools,
    ...(body.temperature != null && { temperature: body.temperature }),
    ...(maxTokens != null && { maxTokens }),
    ...(body.top_p != null && { topP: body.top_p }),
    ...(isForwarded && provider && { provider }),
  };
  const isCallersLoop = callerTools.tools !== undefined || toolField !== undefined;
  return { call, isCallersLoop, ignored: ignoredIn(body, isForwarded ? undefined : provider) };
}

// --------------------------------------------------------------------------------------------------- unsupported

const unsupported = ['logprobs', 'top_logprobs', ...fieldsWith('createChatCompletion', 'refused')] as const;

function refuseUnsupported(body: Request): void {
  const isEmpty = Array.isArray(body.functions) && body.functions.length === 0;
  if (body.functions != null && !isEmpty) throw legacy('/functions');
  const isDefaultCall = body.function_call === 'auto' || body.function_call === 'none';
  if (body.function_call != null && !isDefaultCall) throw legacy('/function_call');
  if (body.n != null && body.n !== 1) throw unsupportedParameter('/n', 'must be 1');
  for (const name of unsupported) {
    const value = body[name];
    if (value != null && value !== false && value !== 0) throw unsupportedParameter(`/${name}`);
  }
  if (body.modalities?.some((modality) => modality !== 'text')) {
    throw unsupportedParameter('/modalities', 'must be ["text"]');
  }
}

// ---------------------------------------------------------------------------------------------- provider fields

type ProviderFields = NonNullable<ChatCall['provider']>;

/** Returns the provider fields that differ from their defaults; undefined if there are none. */
function providerFieldsOf(body: Request): ProviderFields | undefined {
  let fields: Record<string, unknown> | undefined;
  for (const name of providerFields) {
    const value = body[name];
    if (value == null || isDefault(name, value)) continue;
    fields ??= {};
    fields[name] = value;
  }
  return fields;
}

/** Whether the value is the default. Defaults are not sent, because a provider may not know the field. */
function isDefault(name: string, value: unknown): boolean {
  if (name === 'stop') return Array.isArray(value) && value.length === 0;
  return name === 'response_format' && (value as { type?: unknown }).type === 'text';
}

const forms = ['response_format', ...fieldsWith('createChatCompletion', 'refused without json')];

/** Throws for fields that determine the form or the end of the answer, if the model does not support them. */
function refuseForm(fields: ProviderFields = {}, { id }: ServedModel<'chat'>): void {
  const name = forms.find((form) => form in fields);
  if (name !== undefined) throw unsupportedParameter(`/${name}`, `is not supported by the model "${id}"`);
}

// ------------------------------------------------------------------------------------------------------- ignored

const hints = fieldsWith('createChatCompletion', 'ignored');

function ignoredIn(body: Request, dropped: ProviderFields = {}): readonly string[] {
  const isStrict = body.tools?.some((tool) => tool.function?.strict === true);
  return [
    ...Object.keys(dropped),
    ...hints.filter((name) => body[name] != null),
    ...(isStrict === true ? ['strict'] : []),
  ];
}
