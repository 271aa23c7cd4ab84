/** The non-streaming answer of a chat completion. */
import type { ChatResult, ToolCall, Usage } from '../../engines/contract/index.ts';
import type { RunFormat } from '../chat/run.ts';
import { createStepJoin } from '../chat/step-join.ts';
import type { Schemas } from './operations.ts';

/** The fields that a whole answer and each chunk of a streamed answer share. */
export interface AnswerFacts {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** Creates a format that yields a single event: the whole answer. */
export function createAnswer(facts: AnswerFacts): RunFormat<Schemas['ChatCompletion']> {
  const joinContent = createStepJoin();
  const joinReasoning = createStepJoin();
  let content = '';
  let reasoning = '';
  return {
    start: () => [],
    toEvents(event) {
      if (event.type === 'completed') return [toCompletion(event.result, { content, reasoning }, facts)];
      if (event.type === 'content-delta') content += joinContent(event);
      else if (event.type === 'reasoning-delta') reasoning += joinReasoning(event);
      return [];
    },
  };
}

function toCompletion(
  result: ChatResult,
  { content, reasoning }: { readonly content: string; readonly reasoning: string },
  { id, created, model }: AnswerFacts,
): Schemas['ChatCompletion'] {
  const { toolCalls } = result;
  const message: Schemas['CompletionMessage'] = {
    role: 'assistant',
    content: content === '' && toolCalls ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(toolCalls && { tool_calls: toolCalls.map(toWireCall) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: result.finishReason } as const;
  return { id, object: 'chat.completion', created, model, choices: [choice], usage: toUsage(result.usage) };
}

export function toWireCall({ id, name, arguments: json }: ToolCall): Schemas['ToolCall'] {
  return { id, type: 'function', function: { name, arguments: json } };
}

/**
 * Returns zeros if the provider reports no usage, because apps read these fields without checking whether they exist.
 */
export function toUsage(usage: Usage | null): Schemas['CompletionUsage'] {
  return {
    prompt_tokens: usage?.promptTokens ?? 0,
    completion_tokens: usage?.completionTokens ?? 0,
    total_tokens: usage?.totalTokens ?? 0,
    completion_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
  };
}
