/** The laws of a session: what every client may rely on, whatever it has sent. Each session of the tests is held against them. */
import { openaiContract } from '../../src/contract/document.ts';
import { eventCheckOf } from '../../src/contract/event-check.ts';
import { conversationBreaches } from './conversation-laws.ts';

export interface WireItem {
  readonly id: string;
  readonly type?: string;
  readonly call_id?: string;
  readonly status?: string;
  readonly content?: readonly { readonly text?: string; readonly transcript?: string | null }[];
}

export interface WireResponse {
  readonly id: string;
  readonly status: string;
  readonly status_details: object | null;
  readonly output: readonly WireItem[];
  readonly conversation_id: string | null;
  readonly usage: object | null;
}

interface WireSession {
  readonly type: string;
  readonly audio: {
    readonly input: {
      readonly transcription: object | null;
      readonly turn_detection: object | null;
    };
  };
}

/** An event of the service as a client reads it. */
export interface WireEvent {
  readonly type: string;
  readonly event_id?: string;
  readonly item_id?: string;
  readonly previous_item_id?: string | null;
  readonly item?: WireItem;
  readonly response?: WireResponse;
  readonly response_id?: string;
  readonly output_index?: number;
  readonly text?: string;
  readonly arguments?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly audio_start_ms?: number;
  readonly audio_end_ms?: number;
  readonly error?: { readonly code: string; readonly event_id?: string | null };
  readonly session?: WireSession;
}

const transcription = 'conversation.item.input_audio_transcription.';

interface Turn {
  startMs?: number;
  isStopped: boolean;
  isCommitted: boolean;
  deltas: string;
  ends: number;
}

/**
 * Returns the violations of the laws. `isWhole`: the client stayed until every turn had ended. `sentIds`: the `event_id`
 * of the client's events.
 */
export function breachesOf(
  events: readonly WireEvent[],
  { isWhole, sentIds = [] }: { readonly isWhole: boolean; readonly sentIds?: readonly string[] },
): string[] {
  const breaches: string[] = [];
  const must = (holds: boolean, law: string, { type, event_id: id }: WireEvent) => {
    if (!holds) breaches.push(`${law}: ${type} (${String(id)})`);
  };
  const isConversation = events[0]?.session?.type === 'realtime';
  const union = isConversation ? 'RealtimeServerEvent' : 'RealtimeTranscriptionServerEvent';
  const { types, errorsOf } = eventCheckOf(openaiContract, union);
  const turns = new Map<string, Turn>();
  const turnOf = (id = '') => {
    const turn = turns.get(id) ?? { isStopped: false, isCommitted: false, deltas: '', ends: 0 };
    turns.set(id, turn);
    return turn;
  };
  let last: string | null = null;
  let open: string | undefined;
  let latestMs = 0;

  for (const [index, event] of events.entries()) {
    const { type, item_id: id, previous_item_id: previous } = event;
    must(types.includes(type) && errorsOf(event).length === 0, 'every event is declared and valid', event);
    must((type === 'session.created') === (index === 0), 'session.created is the first event, once', event);
    const turn = turnOf(id);
    if (type === 'input_audio_buffer.speech_started') {
      must(open === undefined && !turn.isCommitted, 'one turn is open at a time', event);
      must((event.audio_start_ms ?? -1) >= latestMs, 'the clock never goes back', event);
      open = id;
      turn.startMs = latestMs = event.audio_start_ms ?? 0;
    }
    if (type === 'input_audio_buffer.speech_stopped') {
      must(open === id && !turn.isStopped, 'an open turn stops, once', event);
      must((event.audio_end_ms ?? -1) >= (turn.startMs ?? 0), 'a turn ends after its start', event);
      turn.isStopped = true;
      latestMs = Math.max(latestMs, (event.audio_end_ms ?? 0) - maxOverlapMs);
    }
    if (type === 'input_audio_buffer.cleared') open = undefined;
    if (type === 'input_audio_buffer.committed') {
      must(!turn.isCommitted, 'an item is committed once', event);
      must(open === undefined || open === id, 'the open turn is committed', event);
      must(isConversation || previous === last, 'an item follows the one before', event);
      const [added, done] = events.slice(index + 1, index + 3);
      must(
        added?.type === 'conversation.item.added' && done?.type === 'conversation.item.done',
        'a committed turn is an item',
        event,
      );
      for (const item of [added, done]) {
        must(item?.item?.id === id && item?.previous_item_id === previous, 'its item has its id and place', event);
      }
      turn.isCommitted = true;
      last = id ?? null;
      open = undefined;
    }
    if (type === 'conversation.item.added' && isUntranscribed(event.item)) {
      turns.set(event.item?.id ?? '', { isStopped: false, isCommitted: true, deltas: '', ends: 0 });
    }
    if (!type.startsWith(transcription)) continue;
    must(turn.isCommitted, 'nothing of a transcript comes before its item', event);
    must(turn.ends === 0, 'a turn ends once, and nothing follows', event);
    if (type === `${transcription}delta`) turn.deltas += event.delta ?? '';
    else turn.ends += 1;
    if (type === `${transcription}completed` && turn.deltas !== '') {
      must(turn.deltas === event.transcript, 'deltas concatenate to the transcript', event);
    }
  }

  const ids = events.map((event) => event.event_id);
  if (new Set(ids).size < ids.length) breaches.push('every event has an id of its own');
  for (const { error, type } of events) {
    const cause = type === 'error' ? error?.event_id : undefined;
    if (cause != null && !sentIds.includes(cause)) breaches.push(`an error names an event of the client: ${cause}`);
  }
  const isHidden = events.some(({ session }) => session?.audio.input.transcription === null);
  if (isConversation) breaches.push(...conversationBreaches(events, isWhole));
  if (isWhole && !isHidden) {
    for (const [id, { isCommitted, ends }] of turns) {
      if (isCommitted && ends !== 1) breaches.push(`every commit ends in completed or failed: ${id}`);
    }
  }
  return breaches;
}

const isUntranscribed = (item: WireItem | undefined): boolean =>
  item?.content?.some(({ transcript }) => transcript === null) === true;

/** A turn may begin within the silence that has ended the one before: by its prefix, at most 2 s. */
const maxOverlapMs = 2_000;
