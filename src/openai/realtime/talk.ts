/** The table of a conversation: what the turns of the user do to its items and responses. Pure. */
import type { Transcript } from '../../realtime/open-turn.ts';
import type { TurnEvent } from '../../realtime/speech-session.ts';
import { findItem, insert, pendingOf, replace, turnItem } from './conversation.ts';
import { planEarly } from './early-answer.ts';
import { isExpected } from './errors.ts';
import { toNextRun } from './response-plan.ts';
import { TalkResponses } from './talk-responses.ts';

/** Maximum number of times that the models are warmed up between two responses, because that work is not charged. */
const maxWarmUps = { update: 3, turn: 6 };

export class Talk extends TalkResponses {
  /** Follows the turns of the user, whose own events have been sent. */
  follow(event: TurnEvent): void {
    switch (event.type) {
      case 'started':
        if (this.config.interruptsResponse) this.interrupt('turn_detected');
        return this.warmUp('turn');
      case 'voice':
        return this.warmUp('turn');
      case 'early':
        return this.#beginEarly(event.turn, event);
      case 'resumed':
        return this.#dropEarly();
      case 'forgotten':
        this.#dropEarly();
        return this.settle();
      case 'committed':
        return this.#addTurn(event.turn);
      case 'completed':
        return this.#endTurn(event.turn, event.transcript, event.languages?.[0]);
      case 'failed':
        return this.#endTurn(event.turn, null, undefined);
      default:
    }
  }

  /** Prepares the models for the next turn, unless a response is active. */
  warmUp(cause: keyof typeof maxWarmUps): void {
    const { active, warmUps } = this.state;
    if (this.context.config.type !== 'realtime' || active || warmUps >= maxWarmUps[cause]) return;
    try {
      this.effects.push({ type: 'warm-up', run: toNextRun(this.config, this.state) });
      this.set({ warmUps: warmUps + 1 });
    } catch (error) {
      if (!isExpected(error)) throw error; // the response will fail with it
    }
  }

  #beginEarly(turn: string, event: Transcript): void {
    const config = this.config;
    const run = planEarly(turn, event, this.state, config);
    if (!run) return;
    const [id, { conversation }] = [this.newId('resp'), this.state];
    this.set({ early: { id, turn, transcript: event.transcript, conversation, config } });
    this.effects.push({ type: 'prepare', response: id, run });
  }

  /** Call this at the end of a step. An early answer is dropped if it would not be the one to its turn. */
  checkEarly(): void {
    const { early, conversation, active } = this.state;
    if (active || early?.conversation !== conversation || early.config !== this.context.config) this.#dropEarly();
  }

  #dropEarly(): void {
    const { early } = this.state;
    if (!early) return;
    this.set({ early: undefined });
    this.effects.push({ type: 'stop', response: early.id });
  }

  #addTurn(id: string): void {
    const conversation = insert(this.state.conversation, turnItem(id));
    const { early } = this.state;
    this.set({ conversation, early: early?.turn === id ? { ...early, conversation } : early });
  }

  /**
   * `transcript` is null if the transcription has failed. A turn whose item was deleted is not answered, even if another
   * item has its id now.
   */
  #endTurn(id: string, transcript: string | null, language: string | undefined): void {
    const { conversation, early } = this.state;
    const item = findItem(conversation, id);
    const content = [{ type: 'input_audio', transcript }] as const;
    const pending = pendingOf(item);
    if (pending && item?.type === 'message') this.set({ conversation: replace(conversation, { ...item, content }) });
    if (language !== undefined) this.set({ language });
    if (early?.turn !== id || early.transcript !== transcript) this.#dropEarly();
    const config = this.config;
    const isAnswered = pending === 'turn' && transcript !== null && transcript.trim() !== '';
    if (isAnswered && config.input?.detection && config.createsResponse) this.set({ isOwed: true });
    this.settle();
  }
}
