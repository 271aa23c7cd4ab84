/** Validates and copies single chat events, as in answers.ts; their order is checked elsewhere. */
import type {
  AgentEvent,
  ChatResult,
  FinishReason,
  ToolCall,
  ToolEvent,
  Usage,
} from '../../../engines/contract/index.ts';
import { isCount, must, objectOf } from './answers.ts';

const finishReasons: readonly unknown[] = ['stop', 'length', 'content_filter', 'tool_calls'] satisfies FinishReason[];

export function checkEvent(value: unknown): AgentEvent {
  const event = objectOf(value, 'an event');
  const { type } = event;
  if (type === 'completed') return { type, result: checkResult(event.result) };
  const { step } = event;
  must(isCount(step), 'an event has no step');
  switch (type) {
    case 'content-delta':
    case 'reasoning-delta': {
      const { delta } = event;
      must(typeof delta === 'string', 'a delta is not a string');
      return { type, step, delta };
    }
    case 'step-started':
      return { type, step };
    case 'tool-started':
    case 'tool-event':
    case 'tool-finished': {
      const { call } = event;
      must(isCount(call), `a ${type} has no call`);
      return checkCall(type, { step, call }, event);
    }
    default:
      must(false, 'an event has an unknown type');
  }
}

function checkCall(
  type: 'tool-started' | 'tool-event' | 'tool-finished',
  head: { readonly step: number; readonly call: number },
  event: Readonly<Record<string, unknown>>,
): AgentEvent {
  if (type === 'tool-event') return { type, ...head, event: checkToolEvent(event.event) };
  const { name } = event;
  must(typeof name === 'string' && name !== '', 'a tool has no name');
  if (type === 'tool-started') {
    const { arguments: args } = event;
    const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
    must(isObject, 'the arguments of a tool are not an object');
    return { type, ...head, name, arguments: args as Readonly<Record<string, unknown>> };
  }
  const { ok, output, error, durationMs } = event;
  must(typeof ok === 'boolean', 'a tool finishes with an `ok` that is not a boolean');
  must(output === undefined || typeof output === 'string', 'the output of a tool is not a string');
  must(error === undefined || typeof error === 'string', 'the error of a tool is not a string');
  must(typeof durationMs === 'number' && Number.isFinite(durationMs), 'a tool finishes without a duration');
  return {
    ...{ type, ...head, name, ok, durationMs },
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  };
}

function checkToolEvent(value: unknown): ToolEvent {
  const { type, clip, progress, total, message } = objectOf(value, 'the event of a tool');
  if (type === 'audio') {
    const { id, mediaType } = objectOf(clip, 'a clip');
    must(typeof id === 'string' && typeof mediaType === 'string', 'a clip has no id or no media type');
    return { type, clip: { id, mediaType } };
  }
  must(type === 'progress', 'the event of a tool has an unknown type');
  must(typeof progress === 'number' && Number.isFinite(progress), 'the progress of a tool is not a number');
  must(total === undefined || (typeof total === 'number' && Number.isFinite(total)), 'a total is not a number');
  must(message === undefined || typeof message === 'string', 'the message of a tool is not a string');
  return { type, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}

function checkResult(value: unknown): ChatResult {
  const { content, finishReason, reasoning, usage, toolCalls } = objectOf(value, 'the result');
  must(typeof content === 'string', 'the content of the result is not a string');
  must(finishReasons.includes(finishReason), 'the result has an unknown finish reason');
  must(
    (finishReason === 'tool_calls') === (toolCalls !== undefined),
    'the result has tool calls without that reason, or the reason without calls',
  );
  must(reasoning === null || typeof reasoning === 'string', 'the reasoning of the result is neither a string nor null');
  return {
    content,
    finishReason: finishReason as FinishReason,
    reasoning,
    usage: usage === null ? null : checkUsage(usage),
    ...(toolCalls !== undefined && { toolCalls: checkToolCalls(toolCalls) }),
  };
}

function checkToolCalls(value: unknown): readonly ToolCall[] {
  must(Array.isArray(value), 'the tool calls of the result are not an array');
  return (value as readonly unknown[]).map((call) => {
    const { id, name, arguments: args } = objectOf(call, 'a tool call');
    must(typeof id === 'string' && typeof name === 'string' && typeof args === 'string', 'a tool call is incomplete');
    return { id, name, arguments: args };
  });
}

function checkUsage(value: unknown): Usage {
  const { promptTokens, completionTokens, totalTokens, reasoningTokens } = objectOf(value, 'the usage');
  must(
    isCount(promptTokens) && isCount(completionTokens) && isCount(totalTokens) && isCount(reasoningTokens),
    'the usage is not in integers >= 0',
  );
  return { promptTokens, completionTokens, totalTokens, reasoningTokens };
}
