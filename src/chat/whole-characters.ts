/**
 * Keeps surrogate pairs together: providers may split an emoji between two deltas, and half of it cannot be encoded.
 */
import type { AgentEvent, ChatResult, ToolCall } from '../../engines/contract/index.ts';

type DeltaEvent = Extract<AgentEvent, { delta: string }>;

/**
 * Takes the events of a run and returns the events to emit now. If a delta ends with the first half of a surrogate
 * pair, that half is held back until the next delta of the same type, or any other event without a delta. A half
 * without its counterpart becomes U+FFFD.
 */
export function createWholeCharacters(): (event: AgentEvent) => readonly AgentEvent[] {
  const halves = new Map<DeltaEvent['type'], DeltaEvent>();

  function take(event: DeltaEvent): readonly AgentEvent[] {
    if (halves.size === 0 && event.delta.isWellFormed()) return [event]; // the common case
    const { type } = event;
    const text = (halves.get(type)?.delta ?? '') + event.delta;
    halves.delete(type);
    const end = endOf(text);
    if (end < text.length) halves.set(type, { ...event, delta: text.slice(end) });
    return end === 0 ? [] : [{ ...event, delta: text.slice(0, end).toWellFormed() }];
  }

  function takeHalves(): readonly AgentEvent[] {
    const alone = [...halves.values()].map((event) => ({ ...event, delta: event.delta.toWellFormed() }));
    halves.clear();
    return alone;
  }

  return (event) => {
    if ('delta' in event) return take(event);
    return [...takeHalves(), event.type === 'completed' ? { ...event, result: toWellFormed(event.result) } : event];
  };
}

/** Returns the length of the text, excluding a high surrogate at its end. */
function endOf(text: string): number {
  return /[\uD800-\uDBFF]/.test(text.slice(-1)) ? text.length - 1 : text.length;
}

/** Replaces unpaired surrogates in the result, as in the deltas. */
function toWellFormed({ content, reasoning, toolCalls, ...result }: ChatResult): ChatResult {
  return {
    ...result,
    content: content.toWellFormed(),
    reasoning: reasoning?.toWellFormed() ?? null,
    ...(toolCalls && { toolCalls: toolCalls.map(toWellFormedCall) }),
  };
}

function toWellFormedCall({ id, name, arguments: json }: ToolCall): ToolCall {
  return { id: id.toWellFormed(), name: name.toWellFormed(), arguments: json.toWellFormed() };
}
