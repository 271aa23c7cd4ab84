/** Converts agent events to events of the native contract. */
import type { AgentEvent, ChatResult } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';
import { wellFormed } from '../../lib/json.ts';
import { shorten } from '../../lib/text.ts';
import { createClipOrder } from './clip-order.ts';
import type { RunFormat } from './run.ts';

export type ChatEvent = Schemas['ChatEvent'];

export interface ChatEventOptions {
  /** The request id, which is the id of the run. */
  readonly id: string;
  /** The model id that requests use. */
  readonly model: string;
  readonly linkTo: (path: string) => string;
  /** Whether the caller reads a stream. If false, deltas are not emitted. */
  readonly isStream: boolean;
}

/**
 * Maximum number of UTF-16 code units of a tool's output, error or message in an event. The model receives the whole
 * output.
 */
const shownLength = 4_096;

export function createChatEvents(facts: ChatEventOptions): RunFormat<ChatEvent> {
  const inOrder = createClipOrder();
  let seq = 0;
  return {
    start: () => [{ type: 'chat.started', seq: seq++, id: facts.id, model: facts.model }],
    toEvents(event) {
      if (event.type === 'content-retracted' || (!facts.isStream && 'delta' in event)) return none;
      if (!('call' in event)) return [toChatEvent(event, seq++, facts)];
      return inOrder(event).map((shown) => toChatEvent(shown, seq++, facts));
    },
  };
}

const none: readonly ChatEvent[] = [];

type ShownEvent = Exclude<AgentEvent, { type: 'content-retracted' }>;

/** Returns false for the first two events, which only announce the run. */
export function isFromProvider(event: ChatEvent): boolean {
  return event.type !== 'chat.started' && !(event.type === 'step.started' && event.step === 0);
}

function toChatEvent(event: ShownEvent, seq: number, facts: ChatEventOptions): ChatEvent {
  switch (event.type) {
    case 'step-started':
      return { type: 'step.started', seq, step: event.step };
    case 'reasoning-delta':
      return { type: 'reasoning.delta', seq, step: event.step, delta: event.delta };
    case 'content-delta':
      return { type: 'content.delta', seq, step: event.step, delta: event.delta };
    case 'tool-started':
      return { type: 'tool.started', ...headOf(event, seq), name: event.name, arguments: showable(event.arguments) };
    case 'tool-event':
      return toToolEvent(event, seq, facts);
    case 'tool-finished':
      return {
        type: 'tool.finished',
        ...headOf(event, seq),
        name: event.name,
        ok: event.ok,
        ...(event.output !== undefined && { output: showableText(event.output) }),
        ...(event.error !== undefined && { error: showableText(event.error) }),
        duration_ms: Math.max(0, Math.round(event.durationMs)),
      };
    case 'completed':
      return { type: 'chat.completed', seq, result: toResult(event.result, facts) };
  }
}

/** Returns arguments that can be serialized. Arguments nested too deeply for the call stack must not end the run. */
function showable(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    const shown: unknown = JSON.parse(JSON.stringify(args, wellFormed));
    return typeof shown === 'object' && shown !== null ? { ...shown } : {};
  } catch {
    return {};
  }
}

function showableText(text: string): string {
  return shorten(text.toWellFormed(), shownLength);
}

type ToolCall = Extract<AgentEvent, { call: number }>;

/** Returns the common fields of tool events. The id is unique within the run. */
function headOf({ step, call }: ToolCall, seq: number) {
  return { seq, step, id: `tool-${step}-${call}` };
}

function toToolEvent(
  toolEvent: Extract<AgentEvent, { type: 'tool-event' }>,
  seq: number,
  { linkTo }: ChatEventOptions,
): ChatEvent {
  const { event } = toolEvent;
  if (event.type === 'audio') {
    const { id, mediaType } = event.clip;
    const audio = { id, url: linkTo(`/tts/clips/${encodeURIComponent(id)}`), content_type: mediaType };
    return { type: 'audio.created', ...headOf(toolEvent, seq), audio };
  }
  const { progress, total, message } = event;
  return {
    type: 'tool.progress',
    ...headOf(toolEvent, seq),
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: showableText(message) }),
  };
}

function toResult(
  { content, finishReason, reasoning, usage }: ChatResult,
  { model }: ChatEventOptions,
): Schemas['ChatResult'] {
  return {
    content,
    model,
    // `tool_calls` is used only for the caller's own tools, which this API does not support.
    finish_reason: finishReason === 'tool_calls' ? 'stop' : finishReason,
    reasoning,
    usage: usage && {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.totalTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
  };
}
