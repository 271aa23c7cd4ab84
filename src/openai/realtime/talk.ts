/** The table of a conversation: what the turns of the user do to its items and responses. Pure. */
import type { Transcript } from '../../realtime/open-turn.ts';
import type { TurnEvent } from '../../realtime/speech-session.ts';
import type { ConversationConfig } from './conversation-config.ts';
import { findItem, insert, isPending, pendingOf, replace, turnItem } from './conversation.ts';
import { toNextRun } from './response-plan.ts';
import { answersTurns } from './session-config.ts';
import { TalkResponses } from './talk-responses.ts';

/** Maximum number of times that the models are warmed up between two responses, because that work is not charged. */
const maxWarmUps = { update: 3, turn: 6 };

export class Talk extends TalkResponses {
  /** Follows the turns of the user, whose own events have been sent. */
  follow(event: TurnEvent): void {
    const { config } = this.context;
    switch (event.type) {
      case 'started':
        this.set({ openTurn: event.turn });
        if (config.type === 'realtime' && config.interruptsResponse) this.interrupt('turn_detected');
        return this.warmUp('turn');
      case 'voice':
        this.set({ openTurn: event.turn });
        return this.warmUp('turn');
      case 'early':
        return this.#beginEarly(event.turn, event);
      case 'resumed':
        return this.#dropEarly();
      case 'forgotten':
        this.set({ openTurn: undefined });
        this.#dropEarly();
        return this.settle();
      case 'committed':
        this.set({ openTurn: undefined });
        this.awaitTranscript(event.turn);
        if (config.type === 'realtime') this.#addTurn(event.turn);
        return;
      case 'completed':
        return this.#endTurn(event.turn, event.transcript, event.languages?.[0]);
      case 'failed':
        return this.#endTurn(event.turn, null, undefined);
      default:
    }
  }

  /** Prepares the models for the next turn, unless a response is active. */
  warmUp(cause: keyof typeof maxWarmUps): void {
    const { config } = this.context;
    const { active, warmUps } = this.state;
    if (config.type !== 'realtime' || active || warmUps >= maxWarmUps[cause]) return;
    const run = toNextRun(config, this.state);
    if (!run) return;
    this.effects.push({ type: 'warm-up', run });
    this.set({ warmUps: warmUps + 1 });
  }

  /** Begins the answer to a turn that may be over, unless something else comes first or a model is not local. */
  #beginEarly(turn: string, { transcript, languages }: Transcript): void {
    const { config } = this.context;
    const { active, isOwed, early, conversation, language } = this.state;
    if (!answersTurns(config) || !isLocal(config) || transcript.trim() === '') return;
    if (active || isOwed || early || conversation.items.some(isPending)) return;
    const item = { ...turnItem(turn), content: [{ type: 'input_audio', transcript }] } as const;
    const run = toNextRun(config, { ...this.state, language: languages?.[0] ?? language }, item);
    if (!run) return;
    const id = this.newId('resp');
    this.set({ early: { id, turn, transcript, conversation, config } });
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
  #endTurn(id: string, transcript: string | null, language = this.state.language): void {
    const { conversation, early } = this.state;
    const transcribing = new Map(this.state.transcribing);
    transcribing.delete(id);
    this.set({ transcribing, language });
    const item = findItem(conversation, id);
    const content = [{ type: 'input_audio', transcript }] as const;
    const pending = pendingOf(item);
    if (pending && item?.type === 'message') this.set({ conversation: replace(conversation, { ...item, content }) });
    if (early?.turn !== id || early.transcript !== transcript) this.#dropEarly();
    const hasWords = transcript !== null && transcript.trim() !== '';
    if (pending === 'turn' && hasWords && answersTurns(this.context.config)) this.set({ isOwed: true });
    this.settle();
  }
}

const isLocal = ({ models: { chat, speech }, settings }: ConversationConfig): boolean =>
  chat.entry.local && (settings.modality === 'text' || speech?.entry.local === true);
