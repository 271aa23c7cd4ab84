/** Validates single chat events; their order is checked elsewhere. */
import type { AgentEvent, FinishReason } from '../../../engines/contract/index.ts';
import { isObject } from '../../../lib/json.ts';
import { isCount, must, mustBeText, objectOf } from './answers.ts';

const finishReasons: readonly unknown[] = ['stop', 'length', 'content_filter', 'tool_calls'] satisfies FinishReason[];

export function checkEvent(value: unknown): AgentEvent {
  const event = objectOf(value, 'an event');
  if (event.type === 'completed') checkResult(event.result);
  else checkStep(event);
  return value as AgentEvent;
}

type Fields = Readonly<Record<string, unknown>>;

function checkStep(event: Fields): void {
  const { type, step } = event;
  must(isCount(step), 'an event has no step');
  switch (type) {
    case 'content-delta':
    case 'reasoning-delta':
      mustBeText(event.delta, 'a delta');
      return;
    case 'step-started':
    case 'content-retracted':
      return;
    case 'tool-started':
    case 'tool-event':
    case 'tool-finished':
      must(isCount(event.call), `a ${type} has no call`);
      checkCall(type, event);
      return;
    default:
      must(false, 'an event has an unknown type');
  }
}

function checkCall(type: 'tool-started' | 'tool-event' | 'tool-finished', event: Fields): void {
  if (type === 'tool-event') return checkToolEvent(event.event);
  const { name, ok, output, error, durationMs } = event;
  must(name !== '', 'a tool has no name');
  mustBeText(name, 'the name of a tool');
  if (type === 'tool-started') {
    must(isObject(event.arguments), 'the arguments of a tool are not an object');
    return;
  }
  must(typeof ok === 'boolean', 'a tool finishes with an `ok` that is not a boolean');
  if (output !== undefined) mustBeText(output, 'the output of a tool');
  if (error !== undefined) mustBeText(error, 'the error of a tool');
  must(typeof durationMs === 'number' && Number.isFinite(durationMs), 'a tool finishes without a duration');
}

function checkToolEvent(value: unknown): void {
  const { type, clip, progress, total, message } = objectOf(value, 'the event of a tool');
  if (type === 'audio') {
    const { id, mediaType } = objectOf(clip, 'a clip');
    must(typeof id === 'string' && typeof mediaType === 'string', 'a clip has no id or no media type');
    return;
  }
  must(type === 'progress', 'the event of a tool has an unknown type');
  must(typeof progress === 'number' && Number.isFinite(progress), 'the progress of a tool is not a number');
  must(total === undefined || (typeof total === 'number' && Number.isFinite(total)), 'a total is not a number');
  if (message !== undefined) mustBeText(message, 'the message of a tool');
}

function checkResult(value: unknown): void {
  const { content, finishReason, reasoning, usage, toolCalls } = objectOf(value, 'the result');
  mustBeText(content, 'the content of the result');
  must(finishReasons.includes(finishReason), 'the result has an unknown finish reason');
  must(
    (finishReason === 'tool_calls') === (toolCalls !== undefined),
    'the result has tool calls without that reason, or the reason without calls',
  );
  if (reasoning !== null) mustBeText(reasoning, 'the reasoning of the result, if it is not null,');
  if (usage !== null) checkUsage(usage);
  if (toolCalls !== undefined) checkToolCalls(toolCalls);
}

function checkToolCalls(value: unknown): void {
  must(Array.isArray(value), 'the tool calls of the result are not an array');
  for (const call of value as readonly unknown[]) {
    const { id, name, arguments: args } = objectOf(call, 'a tool call');
    mustBeText(id, 'the id of a tool call');
    mustBeText(name, 'the name of a tool call');
    mustBeText(args, 'the arguments of a tool call');
  }
}

function checkUsage(value: unknown): void {
  const { promptTokens, completionTokens, totalTokens, reasoningTokens } = objectOf(value, 'the usage');
  must(
    isCount(promptTokens) && isCount(completionTokens) && isCount(totalTokens) && isCount(reasoningTokens),
    'the usage is not in integers >= 0',
  );
}
