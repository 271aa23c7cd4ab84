/** Collects the events of a live transcription (docs/reference/realtime.md). A service may send anything. Pure. */
import type { RealtimeServerEvent } from '../src/client/index.ts';
import { isRecord } from './library/stored-turns.ts';

export interface LiveTranscript {
  readonly isOpen: boolean;
  /** Texts by turn id, in the order of the turns. */
  readonly texts: ReadonlyMap<string, string>;
  /** Turns whose transcript is not complete. */
  readonly pending: ReadonlySet<string>;
  /** Answers to `session.update`. The page sends one at the beginning, and one after its commit at the end. */
  readonly updates: number;
}

export const newLiveTranscript: LiveTranscript = { isOpen: false, texts: new Map(), pending: new Set(), updates: 0 };

/** True once no further event can change the transcript. */
export const isComplete = ({ updates, pending }: LiveTranscript): boolean => updates > 1 && pending.size === 0;

/** Returns undefined if the session has failed or does not exist. */
export function applyLiveEvent(live: LiveTranscript, data: unknown): LiveTranscript | undefined {
  const event = parse(data);
  if (!event) return undefined;
  switch (event.type) {
    case 'session.created':
      return { ...live, isOpen: true };
    case 'session.updated':
      return { ...live, updates: live.updates + 1 };
    case 'input_audio_buffer.committed':
      return { ...live, pending: new Set([...live.pending, event.item_id]), texts: write(live, event.item_id, '') };
    case 'conversation.item.input_audio_transcription.delta':
      return { ...live, texts: write(live, event.item_id, event.delta) };
    case 'conversation.item.input_audio_transcription.completed': {
      const pending = new Set([...live.pending].filter((id) => id !== event.item_id));
      return { ...live, pending, texts: new Map(live.texts).set(event.item_id, event.transcript) };
    }
    case 'conversation.item.input_audio_transcription.failed':
      return undefined;
    case 'error':
      return event.error.code === 'input_audio_buffer_commit_empty' ? live : undefined; // silence before the end
    default:
      return live;
  }
}

const write = ({ texts }: LiveTranscript, id: string, delta: string) =>
  new Map(texts).set(id, (texts.get(id) ?? '') + delta);

function parse(data: unknown): RealtimeServerEvent | undefined {
  try {
    const event: unknown = JSON.parse(String(data));
    return isRecord(event) && isEvent(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the event has the fields that this page reads. */
function isEvent(
  event: Readonly<Record<string, unknown>>,
): event is Readonly<Record<string, unknown>> & RealtimeServerEvent {
  const { type, error } = event;
  const isText = (...names: readonly string[]) => names.every((name) => typeof event[name] === 'string');
  if (type === 'error') return isRecord(error);
  if (type === 'input_audio_buffer.committed') return isText('item_id');
  if (type === 'conversation.item.input_audio_transcription.delta') return isText('item_id', 'delta');
  if (type === 'conversation.item.input_audio_transcription.completed') return isText('item_id', 'transcript');
  return isText('type');
}
