/** A session as a pure state machine: events in, effects out. */
import type { TurnEvent } from '../../realtime/speech-session.ts';
import type { ClientEvent, ReadEvent } from './client-events.ts';
import { failure, isExpected, Refused, sessionExpired, type ErrorDetails } from './errors.ts';
import type { ResponseEnd, ResponsePart } from './response.ts';
import { errorEvent, turnEvents, type ServerEvent } from './server-events.ts';
import { toSession, type Identity, type SessionConfig, type SessionUpdate } from './session-config.ts';
import { beginTalk, isQuiet, type TalkEffect, type TalkState } from './talk-state.ts';
import { Talk } from './talk.ts';

export interface SessionState {
  readonly identity: Identity;
  readonly config: SessionConfig;
  /** The items and responses. A transcription session has none. */
  readonly talk: TalkState;
  /** The item of the last committed turn. */
  readonly lastTurn: string | null;
  /**
   * The turn of uncommitted speech: one that has begun or, if the client commits turns, one that contains a voice.
   */
  readonly openTurn: string | undefined;
  /**
   * The items of turns that are being transcribed, and whether their transcripts are sent. The settings at the commit
   * decide, so that a client gets all events of a transcript or none.
   */
  readonly transcribing: ReadonlyMap<string, boolean>;
  readonly isDraining: boolean;
  /** True if the service is about to end. Further audio has no effect. */
  readonly isConcluding: boolean;
  readonly isOver: boolean;
}

export type SessionEvent =
  | { readonly type: 'opened'; readonly isConfigured: boolean }
  | ReadEvent
  | { readonly type: 'updated'; readonly config: SessionConfig }
  | { readonly type: 'turn'; readonly event: TurnEvent }
  | { readonly type: 'part'; readonly response: string; readonly part: ResponsePart }
  | { readonly type: 'answered'; readonly response: string; readonly end: ResponseEnd }
  | { readonly type: 'broken'; readonly response: string; readonly error: unknown }
  | { readonly type: 'draining' | 'concluding' | 'expired' }
  | { readonly type: 'failed'; readonly error: unknown };

export type Effect =
  | TalkEffect
  | { readonly type: 'open' | 'configure'; readonly config: SessionConfig }
  /** Is followed by the event `updated` or `refused`. */
  | { readonly type: 'update'; readonly session: SessionUpdate; readonly eventId: string | null }
  | { readonly type: 'append'; readonly sound: Uint8Array; readonly eventId: string | null }
  | { readonly type: 'commit'; readonly eventId: string | null }
  | { readonly type: 'clear' }
  | { readonly type: 'close'; readonly code: number; readonly reason: string };

export interface Transition {
  readonly state: SessionState;
  readonly effects: readonly Effect[];
}

export function beginSession(identity: Identity, config: SessionConfig): SessionState {
  const idle = { talk: beginTalk, lastTurn: null, openTurn: undefined, transcribing: new Map<string, boolean>() };
  return { identity, config, ...idle, isDraining: false, isConcluding: false, isOver: false };
}

/** Whether the session could end without losing any speech or answer. */
export const isIdle = ({ openTurn, transcribing, talk }: SessionState): boolean =>
  openTurn === undefined && transcribing.size === 0 && isQuiet(talk);

/**
 * After the end, events have no effect. A draining session ends once it is idle. `now` is the time in milliseconds of a
 * monotonic clock.
 */
export function next(state: SessionState, event: SessionEvent, now: number): Transition {
  if (state.isOver) return { state, effects: [] };
  const step = react(state, event, now);
  const { isDraining, isOver } = step.state;
  if (!isDraining || isOver || !isIdle(step.state)) return step;
  const end = close(step.state, 1012, 'The service stops or restarts.');
  return { state: end.state, effects: [...step.effects, ...end.effects] };
}

function react(state: SessionState, event: SessionEvent, now: number): Transition {
  switch (event.type) {
    case 'opened': {
      const { identity, config } = state;
      const configured: readonly Effect[] = event.isConfigured ? [{ type: 'configure', config }] : [];
      const created = send({ type: 'session.created', session: toSession(config, identity) } as ServerEvent);
      const opened: Transition = { state, effects: [created, { type: 'open', config }, ...configured] };
      return event.isConfigured ? also(opened, now, (talk) => talk.warmUp('update')) : opened;
    }
    case 'received':
      return receive(state, event.event, event.eventId, now);
    case 'refused':
      return refuse(state, event.error, event.eventId);
    case 'updated': {
      const { config } = event;
      const updated = send({ type: 'session.updated', session: toSession(config, state.identity) } as ServerEvent);
      const step = converse({ ...state, config }, now, (talk) => talk.warmUp('update'));
      return { state: step.state, effects: [{ type: 'configure', config }, updated, ...step.effects] };
    }
    case 'turn':
      return followTurn(state, event.event, now);
    case 'part':
      return converse(state, now, (talk) => talk.addPart(event.response, event.part));
    case 'answered':
      return converse(state, now, (talk) => talk.end(event.response, event.end));
    case 'broken':
      return converse(state, now, (talk) => talk.fail(event.response, event.error));
    case 'draining':
      return { state: { ...state, isDraining: true }, effects: [] };
    case 'concluding':
      return {
        state: { ...state, isDraining: true, isConcluding: true },
        effects: [{ type: 'commit', eventId: null }],
      };
    case 'expired':
      return fail(state, 1001, sessionExpired.message, sessionExpired, now);
    case 'failed':
      return fail(state, 1011, 'The service failed.', failure(event.error), now);
  }
}

const send = (event: ServerEvent): Effect => ({ type: 'send', event });

function refuse(state: SessionState, error: ErrorDetails, eventId: string | null): Transition {
  return { state, effects: [send(errorEvent(error, eventId))] };
}

function close(state: SessionState, code: number, reason: string): Transition {
  return { state: { ...state, isOver: true }, effects: [{ type: 'close', code, reason }] };
}

/** Ends the responses, and closes the session with the error. */
function fail(state: SessionState, code: number, reason: string, error: ErrorDetails, now: number): Transition {
  const ended = converse(state, now, (talk) => talk.abandon(error));
  const end = close(ended.state, code, reason);
  return { state: end.state, effects: [...ended.effects, send(errorEvent(error, null)), ...end.effects] };
}

function receive(state: SessionState, event: ClientEvent, eventId: string | null, now: number): Transition {
  try {
    return take(state, event, eventId, now);
  } catch (error) {
    if (isExpected(error)) return refuse(state, failure(error), eventId);
    throw error;
  }
}

/** Throws `Refused` or a problem for an event without effect. */
function take(state: SessionState, event: ClientEvent, eventId: string | null, now: number): Transition {
  switch (event.type) {
    case 'session.update':
      return { state, effects: [{ type: 'update', session: event.session, eventId }] };
    case 'input_audio_buffer.append':
      requireInput(state);
      return { state, effects: state.isConcluding ? [] : [{ type: 'append', sound: event.sound, eventId }] };
    case 'input_audio_buffer.commit':
      requireInput(state);
      return { state, effects: [{ type: 'commit', eventId }] };
    case 'input_audio_buffer.clear': {
      const cleared = send({ type: 'input_audio_buffer.cleared' });
      return { state, effects: [{ type: 'clear' }, cleared] };
    }
    case 'conversation.item.create':
      return awaitTranscript(converse(state, now, (talk) => talk.create(event)));
    case 'conversation.item.retrieve':
      return converse(state, now, (talk) => talk.retrieve(event));
    case 'conversation.item.delete':
      return converse(state, now, (talk) => talk.delete(event));
    case 'conversation.item.truncate':
      return converse(state, now, (talk) => talk.truncate(event));
    case 'response.create':
      return converse(state, now, (talk) => talk.createResponse(event));
    case 'response.cancel':
      return converse(state, now, (talk) => talk.cancelResponse(event));
  }
}

function requireInput({ config }: SessionState): void {
  if (config.input) return;
  throw new Refused(
    'unsupported_value',
    'The session takes no audio: the API key may not transcribe, or no model can.',
  );
}

/** Applies a step of the conversation. The one of a transcription session is always empty. */
function converse(state: SessionState, now: number, step: (talk: Talk) => void): Transition {
  const { config, identity, openTurn, transcribing } = state;
  const session = identity.id.replace('sess_', '');
  const talk = new Talk(state.talk, { config, session, openTurn, transcribing, now });
  step(talk);
  talk.checkEarly();
  return { state: { ...state, talk: talk.state }, effects: talk.effects };
}

/** After a step that may have added an item with audio. */
function awaitTranscript({ state, effects }: Transition): Transition {
  const transcribing = new Map(state.transcribing);
  for (const effect of effects) {
    if (effect.type !== 'transcribe') continue;
    requireInput(state);
    transcribing.set(effect.item, isTranscriptSent(state));
  }
  return { state: { ...state, transcribing }, effects };
}

const isTranscriptSent = ({ config }: SessionState): boolean => config.type !== 'realtime' || config.isTranscriptSent;

/** Applies a step of the conversation after a transition. */
function also({ state, effects }: Transition, now: number, step: (talk: Talk) => void): Transition {
  const more = converse(state, now, step);
  return { state: more.state, effects: [...effects, ...more.effects] };
}

function followTurn(before: SessionState, event: TurnEvent, now: number): Transition {
  if (event.type === 'nothing' && before.isConcluding) return { state: before, effects: [{ type: 'clear' }] };
  const { config, talk, lastTurn } = before;
  const previous = config.type === 'realtime' ? (talk.conversation.items.at(-1)?.id ?? null) : lastTurn;
  const isHidden = 'turn' in event && before.transcribing.get(event.turn) === false;
  const effects = isHidden ? [] : turnEvents(event, previous).map(send);
  const state = afterTurn(before, event);
  if (config.type !== 'realtime') return { state, effects };
  return also({ state, effects }, now, (draft) => draft.follow(event));
}

function afterTurn(state: SessionState, event: TurnEvent): SessionState {
  const transcribing = new Map(state.transcribing);
  switch (event.type) {
    case 'started':
    case 'voice':
      return { ...state, openTurn: event.turn };
    case 'forgotten':
      return { ...state, openTurn: undefined };
    case 'committed':
      transcribing.set(event.turn, isTranscriptSent(state));
      return { ...state, transcribing, lastTurn: event.turn, openTurn: undefined };
    case 'completed':
    case 'failed':
      transcribing.delete(event.turn);
      return { ...state, transcribing };
    default:
      return state;
  }
}
