/** A transcription session as a pure state machine: events in, effects out. */
import type { TurnEvent } from '../../realtime/speech-session.ts';
import type { ClientEvent, ReadEvent, SessionUpdate } from './client-events.ts';
import { failure, sessionExpired, type ErrorDetails } from './errors.ts';
import { errorEvent, turnEvents, type ServerEvent } from './server-events.ts';
import { toSession, type Identity, type SessionConfig } from './session-config.ts';

export interface SessionState {
  readonly identity: Identity;
  readonly config: SessionConfig;
  /** The item of the last committed turn. */
  readonly lastItem: string | null;
  /**
   * Whether there is uncommitted speech: a turn has begun or, if the client commits turns, the current one contains a
   * voice.
   */
  readonly hasSpeech: boolean;
  /** Items of turns that are being transcribed. */
  readonly transcribing: ReadonlySet<string>;
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
  | { readonly type: 'draining' | 'concluding' | 'expired' }
  | { readonly type: 'failed'; readonly error: unknown };

export type Effect =
  | { readonly type: 'send'; readonly event: ServerEvent }
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
  const idle = { lastItem: null, hasSpeech: false, transcribing: new Set<string>() };
  return { identity, config, ...idle, isDraining: false, isConcluding: false, isOver: false };
}

/** Whether the session could end without losing any speech. */
export const isIdle = ({ hasSpeech, transcribing }: SessionState): boolean => !hasSpeech && transcribing.size === 0;

/** After the end, events have no effect. A draining session ends once it is idle. */
export function next(state: SessionState, event: SessionEvent): Transition {
  if (state.isOver) return { state, effects: [] };
  const step = react(state, event);
  const { isDraining, isOver } = step.state;
  if (!isDraining || isOver || !isIdle(step.state)) return step;
  const end = close(step.state, 1012, 'The service stops or restarts.');
  return { state: end.state, effects: [...step.effects, ...end.effects] };
}

function react(state: SessionState, event: SessionEvent): Transition {
  switch (event.type) {
    case 'opened': {
      const { identity, config } = state;
      const created = send({ type: 'session.created', session: toSession(config, identity) });
      const configured: readonly Effect[] = event.isConfigured ? [{ type: 'configure', config }] : [];
      return { state, effects: [created, { type: 'open', config }, ...configured] };
    }
    case 'received':
      return receive(state, event.event, event.eventId);
    case 'refused':
      return { state, effects: [send(errorEvent(event.error, event.eventId))] };
    case 'updated': {
      const { config } = event;
      const updated = send({ type: 'session.updated', session: toSession(config, state.identity) });
      return { state: { ...state, config }, effects: [{ type: 'configure', config }, updated] };
    }
    case 'turn':
      return followTurn(state, event.event);
    case 'draining':
      return { state: { ...state, isDraining: true }, effects: [] };
    case 'concluding':
      return {
        state: { ...state, isDraining: true, isConcluding: true },
        effects: [{ type: 'commit', eventId: null }],
      };
    case 'expired':
      return close(state, 1001, sessionExpired.message, sessionExpired);
    case 'failed':
      return close(state, 1011, 'The service failed.', failure(event.error));
  }
}

const send = (event: ServerEvent): Effect => ({ type: 'send', event });

function close(state: SessionState, code: number, reason: string, error?: ErrorDetails): Transition {
  const last = error ? [send(errorEvent(error, null))] : [];
  return { state: { ...state, isOver: true }, effects: [...last, { type: 'close', code, reason }] };
}

function receive(state: SessionState, event: ClientEvent, eventId: string | null): Transition {
  switch (event.type) {
    case 'session.update':
      return { state, effects: [{ type: 'update', session: event.session, eventId }] };
    case 'input_audio_buffer.append':
      return { state, effects: state.isConcluding ? [] : [{ type: 'append', sound: event.sound, eventId }] };
    case 'input_audio_buffer.commit':
      return { state, effects: [{ type: 'commit', eventId }] };
    case 'input_audio_buffer.clear': {
      const cleared = send({ type: 'input_audio_buffer.cleared' });
      return { state, effects: [{ type: 'clear' }, cleared] };
    }
  }
}

function followTurn(state: SessionState, event: TurnEvent): Transition {
  if (event.type === 'nothing' && state.isConcluding) return { state, effects: [{ type: 'clear' }] };
  const effects = turnEvents(event, state.lastItem).map(send);
  const transcribing = new Set(state.transcribing);
  switch (event.type) {
    case 'started':
    case 'voice':
      return { state: { ...state, hasSpeech: true }, effects };
    case 'forgotten':
      return { state: { ...state, hasSpeech: false }, effects };
    case 'committed':
      transcribing.add(event.turn);
      return { state: { ...state, transcribing, lastItem: event.turn, hasSpeech: false }, effects };
    case 'completed':
    case 'failed':
      transcribing.delete(event.turn);
      return { state: { ...state, transcribing }, effects };
    default:
      return { state, effects };
  }
}
