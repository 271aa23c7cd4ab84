/** The non-streaming response. */
import type { ChatResult, Usage } from '../../../engines/contract/index.ts';
import type { Schemas } from '../operations.ts';

export type ResponseObject = Schemas['ResponseObject'];
export type OutputItem = Schemas['OutputItem'];

/** The fields that are known when a response begins. */
export interface ResponseFacts {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly request: Schemas['ResponseRequest'];
}

/** Creates a response in progress, with the fields of its request. */
export function beginResponse({ id, created, model, request }: ResponseFacts): ResponseObject {
  const { effort = null, summary = null } = request.reasoning ?? {};
  return {
    id,
    object: 'response',
    created_at: created,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort, summary },
    store: false,
    temperature: request.temperature ?? null,
    text: { format: request.text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    usage: null,
    metadata: request.metadata ?? {},
  };
}

/** Why a response is incomplete, by finish reason. */
const incompleteReasons = { length: 'max_output_tokens', content_filter: 'content_filter' } as const;

/** Returns null for a complete answer. */
export function incompleteDetails(reason: ChatResult['finishReason']): ResponseObject['incomplete_details'] {
  return reason === 'length' || reason === 'content_filter' ? { reason: incompleteReasons[reason] } : null;
}

/**
 * Returns zeros if the provider reports no usage, because apps read these fields without checking whether they exist.
 */
export function toUsage(usage: Usage | null): Schemas['ResponseUsage'] {
  return {
    input_tokens: usage?.promptTokens ?? 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage?.completionTokens ?? 0,
    output_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
    total_tokens: usage?.totalTokens ?? 0,
  };
}

/** Codes on which clients branch. Every other failure becomes a `server_error`. */
const errorCodes: ReadonlySet<string> = new Set([
  'rate_limit_exceeded',
  'context_length_exceeded',
  'insufficient_quota',
]);

export function toError({ code, message }: Schemas['ErrorDetails']): Schemas['ResponseError'] {
  return { code: code !== null && errorCodes.has(code) ? code : 'server_error', message };
}
