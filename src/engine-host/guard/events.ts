/** Validates the events of a chat and enforces their order. */
import type { AgentEvent, FinishReason } from '../../../engines/contract/index.ts';
import { isObject } from '../../../lib/json.ts';
import { isCount, must, mustBeText, objectOf } from './answers.ts';

const finishReasons: readonly unknown[] = ['stop', 'length', 'content_filter', 'tool_calls'] satisfies FinishReason[];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Creates the check for one run. Call it with each event in order; it throws a `BadAnswer` at the first violation. It
 * returns undefined if the event should be dropped: an event that a tool emits after its end is not the engine's fault.
 * `hasTools`: whether the caller has tools.
 */
export function createEventCheck(hasTools: boolean): (value: unknown) => AgentEvent | undefined {
  let step = -1;
  /** The content deltas of the current step. An array, because each `+=` on a string would keep an object in memory. */
  let content: string[] = [];
  /** The reasoning deltas, by step. */
  const reasoning: string[][] = [];
  let calls = 0;
  let running: readonly unknown[] = [];

  /**
   * Returns whether the event should be emitted. The messages contain no numbers, because they are built for every
   * event.
   */
  function check(event: Fields): boolean {
    if (event.type === 'completed') return checkEnd(event.result);
    must(isCount(event.step), 'an event has no step');
    const isCurrent = event.step === step;
    switch (event.type) {
      case 'step-started':
        must(event.step === step + 1, 'a step does not have the number after that of the last one');
        must(running.length === 0, 'a step starts while tools are running');
        step = event.step;
        content = [];
        reasoning.push([]);
        calls = 0;
        return true;
      case 'reasoning-delta':
      case 'content-delta':
        mustBeText(event.delta, 'a delta');
        must(isCurrent, 'a delta is not of the current step');
        (event.type === 'content-delta' ? content : reasoning[step])?.push(event.delta);
        return true;
      case 'content-retracted':
        must(isCurrent, 'a retraction is not of the current step');
        content = [];
        return true;
      case 'tool-started':
        checkToolStart(event);
        must(isCurrent && event.call === calls, 'a call is not of the current step, or does not have the next number');
        running = [...running, calls++];
        return true;
      case 'tool-event':
        must(isCount(event.call), 'a tool-event has no call');
        checkToolEvent(event.event);
        return isCurrent && running.includes(event.call);
      case 'tool-finished':
        checkToolEnd(event);
        must(isCurrent && running.includes(event.call), 'a call finished that is not running');
        running = running.filter((call) => call !== event.call);
        return true;
      default:
        must(false, 'an event has an unknown type');
    }
  }

  function checkEnd(value: unknown): true {
    const result = checkResult(value);
    must(step >= 0, 'the run completed before its first step');
    must(running.length === 0, 'the run completed while tools are running');
    must(result.content === content.join(''), 'the deltas of the last step differ from the content of the result');
    const thoughts = reasoning.map((deltas) => deltas.join('')).filter((text) => text !== '');
    must(
      (result.reasoning ?? '') === thoughts.join('\n\n'),
      'the reasoning deltas, with an empty line between steps, differ from the reasoning of the result',
    );
    must(hasTools || result.toolCalls === undefined, 'the result has tool calls, but the call has no tools');
    return true;
  }

  return (value) => (check(objectOf(value, 'an event')) ? (value as AgentEvent) : undefined);
}

function checkToolStart({ call, name, arguments: args }: Fields): void {
  must(isCount(call), 'a tool-started has no call');
  mustBeName(name);
  must(isObject(args), 'the arguments of a tool are not an object');
}

function checkToolEnd({ call, name, ok, output, error, durationMs }: Fields): void {
  must(isCount(call), 'a tool-finished has no call');
  mustBeName(name);
  must(typeof ok === 'boolean', 'a tool finishes with an `ok` that is not a boolean');
  if (output !== undefined) mustBeText(output, 'the output of a tool');
  if (error !== undefined) mustBeText(error, 'the error of a tool');
  must(typeof durationMs === 'number' && Number.isFinite(durationMs), 'a tool finishes without a duration');
}

function mustBeName(name: unknown): void {
  mustBeText(name, 'the name of a tool');
  must(name !== '', 'a tool has no name');
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

function checkResult(value: unknown): Fields {
  const result = objectOf(value, 'the result');
  const { content, finishReason, reasoning, usage, toolCalls } = result;
  mustBeText(content, 'the content of the result');
  must(finishReasons.includes(finishReason), 'the result has an unknown finish reason');
  must(
    (finishReason === 'tool_calls') === (toolCalls !== undefined),
    'the result has tool calls without that reason, or the reason without calls',
  );
  if (reasoning !== null) mustBeText(reasoning, 'the reasoning of the result, if it is not null,');
  if (usage !== null) checkUsage(usage);
  if (toolCalls !== undefined) checkToolCalls(toolCalls);
  return result;
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
