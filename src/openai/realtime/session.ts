/** A session as a pure state machine: events in, effects out. */
import type { TurnEvent } from '../../realtime/speech-session.ts';
import type { ClientEvent, ReadEvent } from './client-events.ts';
import { failure, isExpected, sessionExpired, type ErrorDetails } from './errors.ts';
import type { ResponseEvent } from './response.ts';
import { errorEvent, turnEvents, type ServerEvent } from './server-events.ts';
import { requireInput, toSession, type Identity, type SessionConfig, type SessionUpdate } from './session-config.ts';
import { beginTalk, type TalkEffect, type TalkState } from './talk-state.ts';
import { Talk } from './talk.ts';

export interface SessionState {
  readonly identity: Identity;
  readonly config: SessionConfig;
  readonly talk: TalkState;
  /** The item of the last committed turn. */
  readonly lastTurn: string | null;
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
  | ({ readonly response: string } & ResponseEvent)
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
  const running = { isDraining: false, isConcluding: false, isOver: false };
  return { identity, config, talk: beginTalk, lastTurn: null, ...running };
}

/** Whether the session could end without losing any speech or answer. */
export const isIdle = ({ talk: { openTurn, transcribing, active, beside, isOwed } }: SessionState): boolean =>
  openTurn === undefined && transcribing.size === 0 && active === undefined && beside.length === 0 && !isOwed;

/**
 * After the end, events have no effect. A draining session ends once it is idle. `now` is the time in milliseconds of a
 * monotonic clock.
 */
export function next(state: SessionState, event: SessionEvent, now: number): Transition {
  if (state.isOver) return { state, effects: [] };
  const step = new Step(state, now);
  step.react(event);
  const { isDraining, isOver } = step.state;
  if (isDraining && !isOver && isIdle(step.state)) step.close(1012, 'The service stops or restarts.');
  return { state: step.state, effects: step.effects };
}

class Step {
  state: SessionState;
  readonly effects: Effect[] = [];
  readonly #now: number;

  constructor(state: SessionState, now: number) {
    this.state = state;
    this.#now = now;
  }

  react(event: SessionEvent): void {
    switch (event.type) {
      case 'opened': {
        const { identity, config } = this.state;
        this.#send({ type: 'session.created', session: toSession(config, identity) } as ServerEvent);
        this.#add({ type: 'open', config });
        if (!event.isConfigured) return;
        this.#add({ type: 'configure', config });
        return this.#converse((talk) => talk.warmUp('update'));
      }
      case 'received':
        return this.#receive(event.event, event.eventId);
      case 'refused':
        return this.#send(errorEvent(event.error, event.eventId));
      case 'updated': {
        const { config } = event;
        this.#set({ config });
        this.#add({ type: 'configure', config });
        this.#send({ type: 'session.updated', session: toSession(config, this.state.identity) } as ServerEvent);
        return this.#converse((talk) => talk.warmUp('update'));
      }
      case 'turn':
        return this.#followTurn(event.event);
      case 'part':
        return this.#converse((talk) => talk.addPart(event.response, event.part));
      case 'answered':
        return this.#converse((talk) => talk.end(event.response, event.end));
      case 'broken':
        return this.#converse((talk) => talk.fail(event.response, event.error));
      case 'draining':
        return this.#set({ isDraining: true });
      case 'concluding':
        this.#set({ isDraining: true, isConcluding: true });
        return this.#add({ type: 'commit', eventId: null });
      case 'expired':
        return this.#fail(1001, sessionExpired.message, sessionExpired);
      case 'failed':
        return this.#fail(1011, 'The service failed.', failure(event.error));
    }
  }

  close(code: number, reason: string): void {
    this.#set({ isOver: true });
    this.#add({ type: 'close', code, reason });
  }

  /** Ends the responses, and closes the session with the error. */
  #fail(code: number, reason: string, error: ErrorDetails): void {
    this.#converse((talk) => talk.abandon(error));
    this.#send(errorEvent(error, null));
    this.close(code, reason);
  }

  #receive(event: ClientEvent, eventId: string | null): void {
    try {
      this.#take(event, eventId);
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#send(errorEvent(failure(error), eventId));
    }
  }

  /** Throws `Refused` or a problem for an event without effect. */
  #take(event: ClientEvent, eventId: string | null): void {
    switch (event.type) {
      case 'session.update':
        return this.#add({ type: 'update', session: event.session, eventId });
      case 'input_audio_buffer.append':
        requireInput(this.state.config);
        if (!this.state.isConcluding) this.#add({ type: 'append', sound: event.sound, eventId });
        return;
      case 'input_audio_buffer.commit':
        requireInput(this.state.config);
        return this.#add({ type: 'commit', eventId });
      case 'input_audio_buffer.clear':
        this.#add({ type: 'clear' });
        return this.#send({ type: 'input_audio_buffer.cleared' });
      case 'conversation.item.create':
        return this.#converse((talk) => talk.create(event));
      case 'conversation.item.retrieve':
        return this.#converse((talk) => talk.retrieve(event));
      case 'conversation.item.delete':
        return this.#converse((talk) => talk.delete(event));
      case 'conversation.item.truncate':
        return this.#converse((talk) => talk.truncate(event));
      case 'response.create':
        return this.#converse((talk) => talk.createResponse(event));
      case 'response.cancel':
        return this.#converse((talk) => talk.cancelResponse(event));
    }
  }

  #followTurn(event: TurnEvent): void {
    const { config, talk, lastTurn, isConcluding } = this.state;
    if (event.type === 'nothing' && isConcluding) return this.#add({ type: 'clear' });
    const previous = config.type === 'realtime' ? (talk.conversation.items.at(-1)?.id ?? null) : lastTurn;
    const isHidden = 'turn' in event && talk.transcribing.get(event.turn) === false;
    if (!isHidden) turnEvents(event, previous).forEach((sent) => this.#send(sent));
    if (event.type === 'committed') this.#set({ lastTurn: event.turn });
    this.#converse((draft) => draft.follow(event));
  }

  /** Applies a step of the conversation. If it throws, nothing has changed. */
  #converse(step: (talk: Talk) => void): void {
    const { config, identity, talk: before } = this.state;
    const talk = new Talk(before, { config, session: identity.id.replace('sess_', ''), now: this.#now });
    step(talk);
    talk.checkEarly();
    this.#set({ talk: talk.state });
    this.#add(...talk.effects);
  }

  #set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  #add(...effects: readonly Effect[]): void {
    this.effects.push(...effects);
  }

  #send(event: ServerEvent): void {
    this.#add({ type: 'send', event });
  }
}
