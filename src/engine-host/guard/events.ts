/** Validates and copies single chat events, as in answers.ts; their order is checked elsewhere. */
import type {
  AgentEvent,
  ChatResult,
  FinishReason,
  ToolCall,
  ToolEvent,
  Usage,
} from '../../../engines/contract/index.ts';
import { isObject } from '../../../lib/json.ts';
import { isCount, must, mustBeText, objectOf } from './answers.ts';

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
      mustBeText(delta, 'a delta');
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
  must(name !== '', 'a tool has no name');
  mustBeText(name, 'the name of a tool');
  if (type === 'tool-started') {
    const { arguments: args } = event;
    must(isObject(args), 'the arguments of a tool are not an object');
    return { type, ...head, name, arguments: args };
  }
  const { ok, output, error, durationMs } = event;
  must(typeof ok === 'boolean', 'a tool finishes with an `ok` that is not a boolean');
  if (output !== undefined) mustBeText(output, 'the output of a tool');
  if (error !== undefined) mustBeText(error, 'the error of a tool');
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
  if (message !== undefined) mustBeText(message, 'the message of a tool');
  return { type, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}

function checkResult(value: unknown): ChatResult {
  const { content, finishReason, reasoning, usage, toolCalls } = objectOf(value, 'the result');
  mustBeText(content, 'the content of the result');
  must(finishReasons.includes(finishReason), 'the result has an unknown finish reason');
  must(
    (finishReason === 'tool_calls') === (toolCalls !== undefined),
    'the result has tool calls without that reason, or the reason without calls',
  );
  if (reasoning !== null) mustBeText(reasoning, 'the reasoning of the result, if it is not null,');
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
    mustBeText(id, 'the id of a tool call');
    mustBeText(name, 'the name of a tool call');
    mustBeText(args, 'the arguments of a tool call');
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
