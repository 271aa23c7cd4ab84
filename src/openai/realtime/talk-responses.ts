/** The responses of a conversation: when they begin and end. Pure. */
import { interrupt as cutAt } from '../../realtime/heard.ts';
import { isPlaying, notPlaying, play, playedMs } from '../../realtime/playing.ts';
import { retentionOf, type ConversationConfig } from './conversation-config.ts';
import {
  findItem,
  isPending,
  itemsFrom,
  replace,
  sentMs,
  shorten,
  spokenPart,
  withHeard,
  type Item,
} from './conversation.ts';
import { failure, isExpected, Refused, type ErrorDetails } from './errors.ts';
import { factsOf, planAnswer, planResponse, toRun, type ResponsePlan } from './response-plan.ts';
import {
  addPart,
  beginResponse,
  endResponse,
  type ResponseEffect,
  type ResponseEnd,
  type ResponsePart,
} from './response.ts';
import { TalkItems, type EventOf } from './talk-items.ts';
import type { OpenResponse } from './talk-state.ts';

const maxBeside = 4;
/** A cancel that arrives this soon after the end of a response has only crossed it. */
const crossingMs = 1_000;
/** Maximum number of times that a conversation is shortened for one response. */
const maxCuts = 8;

export class TalkResponses extends TalkItems {
  override delete(event: EventOf<'conversation.item.delete'>): void {
    super.delete(event);
    this.settle();
  }

  /** The configuration. Only a conversation has responses and turns. */
  get config(): ConversationConfig {
    const { config } = this.context;
    if (config.type === 'realtime') return config;
    throw new Error('a transcription session has no responses');
  }

  createResponse({ response: sent }: EventOf<'response.create'>): void {
    const { active, beside, conversation } = this.state;
    const plan = planResponse(sent ?? {}, this.config, conversation);
    if (plan.isInConversation ? active : beside.length >= maxBeside) {
      const message = plan.isInConversation
        ? `The conversation already has an active response: ${active?.response.facts.id ?? ''}.`
        : `There are already ${String(maxBeside)} responses beside the conversation.`;
      throw new Refused('conversation_already_has_active_response', message);
    }
    this.#begin(plan, false);
  }

  cancelResponse({ response_id: id }: EventOf<'response.cancel'>): void {
    const { active, beside, endedAt } = this.state;
    const other = beside.find((open) => idOf(open) === id);
    if (other) return this.#stop(other, { status: 'cancelled', reason: 'client_cancelled', playedMs: 0, usage: null });
    if (active && (id == null || idOf(active) === id)) return this.interrupt('client_cancelled');
    if (this.context.now - endedAt < crossingMs) return;
    // LiveKit ignores errors whose message begins like this.
    throw new Refused('response_cancel_not_active', 'Cancellation failed: no active response found.');
  }

  addPart(id: string, part: ResponsePart): void {
    const open = this.#open(id);
    if (!open) return; // a late part of a response that has ended
    const own = part.type === 'calls' ? { ...part, calls: this.#distinct(part.calls) } : part;
    const { response, effects } = addPart(open.response, own, () => this.newId('item'));
    this.#replace({ ...open, response });
    this.#perform(effects, open.plan);
    if (part.type !== 'sound') return;
    const playing = play(this.state.playing, part, this.context.now);
    this.set({ playing });
    if (open.plan.isInConversation && response.open) {
      this.set({ spoken: { id: response.open.id, untilMs: playing.untilMs } });
    }
  }

  /** Some models use the same ids in each answer, and the Agents SDK ignores a call whose id it knows. */
  #distinct(calls: Extract<ResponsePart, { type: 'calls' }>['calls']) {
    const { items } = this.state.conversation;
    const known = new Set(items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])));
    return calls.map((call) => {
      const id = known.has(call.id) ? this.newId('call') : call.id;
      known.add(id);
      return { ...call, id };
    });
  }

  end(id: string, end: ResponseEnd): void {
    const open = this.#open(id);
    if (open) this.#close(open, end);
  }

  fail(id: string, error: unknown): void {
    const open = this.#open(id);
    if (!open || this.#retry(open, error)) return;
    this.end(id, { status: 'failed', error: failure(error), usage: null });
  }

  /** Runs the response again with a shorter conversation, if that is why it has failed. */
  #retry(open: OpenResponse, error: unknown): boolean {
    const { response, plan, cuts } = open;
    const share = retentionOf(this.config);
    const isBegun = response.output.length > 0 || response.open !== undefined;
    if (share === undefined || isBegun || plan.input || cuts >= maxCuts) return false;
    if (failure(error).code !== 'context_length_exceeded') return false;
    const start = shorten(itemsFrom(this.state.conversation, this.state.start), share);
    if (start === undefined) return false;
    this.set({ start });
    this.#run({ ...open, cuts: cuts + 1 });
    return true;
  }

  /** Ends all responses with the error. */
  abandon(error: ErrorDetails): void {
    this.set({ isOwed: false });
    const { active, beside } = this.state;
    for (const open of active ? [...beside, active] : beside)
      this.#stop(open, { status: 'failed', error, usage: null });
  }

  /** Begins what has waited for the end of a turn, a transcript or a response. */
  settle(): void {
    const { active, beside, conversation, isOwed, openTurn } = this.state;
    const isMissing = (id: string) => isPending(findItem(conversation, id));
    const ready = [active, ...beside].find((open) => open?.waitsFor && !open.waitsFor.some(isMissing));
    if (ready) {
      this.#run(ready);
      this.settle();
    } else if (isOwed && !active && openTurn === undefined && !conversation.items.some(isPending)) {
      this.#begin(planAnswer(this.config), true);
    }
  }

  #begin(plan: ResponsePlan, isAutomatic: boolean): void {
    const { session } = this.context;
    const config = this.config;
    const early = isAutomatic ? this.state.early : undefined;
    const ids = { response: early?.id ?? this.newId('resp'), conversation: `conv_${session}` };
    const { response, effects } = beginResponse(factsOf(plan, config, ids));
    const { items } = this.state.conversation;
    const waitsFor = (plan.input ?? items).filter(isPending).map(({ id }) => id);
    const open = { response, plan, waitsFor: early ? undefined : waitsFor, isAutomatic, cuts: 0 };
    this.set(plan.isInConversation ? { active: open, isOwed: false } : { beside: [...this.state.beside, open] });
    this.#perform(effects, plan);
    if (early) {
      this.set({ early: undefined, warmUps: 0 });
      this.effects.push({ type: 'release', response: early.id });
    } else if (waitsFor.length === 0) this.#run(open);
  }

  #run(open: OpenResponse): void {
    const id = idOf(open);
    this.#replace({ ...open, waitsFor: undefined });
    this.set({ warmUps: 0 });
    try {
      this.effects.push({ type: 'run', response: id, run: toRun(open.plan, this.config, this.state) });
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.fail(id, error);
    }
  }

  /** Cuts the answer that is playing to what can have been played, and ends the active response. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void {
    const { active, spoken, conversation } = this.state;
    const { now } = this.context;
    const playedOf = (item: Item | undefined) => playedMs(sentMs(spokenPart(item)), spoken ?? notPlaying, now);
    const item = spoken && isPlaying(spoken, now) ? findItem(conversation, spoken.id) : undefined;
    const part = spokenPart(item);
    if (item?.type === 'message' && part) {
      this.set({ conversation: replace(conversation, withHeard(item, cutAt(part.heard, playedOf(item)))) });
    }
    if (active) {
      const { output, open } = active.response;
      const isBegun = output.length > 0 || open !== undefined;
      if (active.isAutomatic && !isBegun && reason === 'turn_detected') this.set({ isOwed: true });
      this.#stop(active, { status: 'cancelled', reason, playedMs: playedOf(open), usage: null });
    }
    this.set({ playing: notPlaying, spoken: undefined });
  }

  /** The model does not see calls of a canceled response. */
  #stop(open: OpenResponse, end: ResponseEnd): void {
    for (const item of open.response.output) {
      if (item.type !== 'function_call') continue;
      this.set({ conversation: replace(this.state.conversation, { ...item, isDropped: true }) });
    }
    if (!open.waitsFor) this.effects.push({ type: 'stop', response: idOf(open) });
    this.#close(open, end);
  }

  #close(open: OpenResponse, end: ResponseEnd): void {
    this.#perform(endResponse(open.response, end), open.plan);
    if (open.plan.isInConversation) this.set({ active: undefined });
    else this.set({ beside: this.state.beside.filter((other) => idOf(other) !== idOf(open)) });
    this.set({ endedAt: this.context.now });
    this.settle();
  }

  #perform(effects: readonly ResponseEffect[], { isInConversation }: ResponsePlan): void {
    for (const effect of effects) {
      if (effect.type === 'send') this.send(effect.event);
      else if (isInConversation && effect.type === 'added') this.add(effect.item);
      else if (isInConversation) this.finish(effect.item);
    }
  }

  #open(id: string): OpenResponse | undefined {
    return [this.state.active, ...this.state.beside].find((open) => open && idOf(open) === id);
  }

  #replace(open: OpenResponse): void {
    if (open.plan.isInConversation) return this.set({ active: open });
    this.set({ beside: this.state.beside.map((other) => (idOf(other) === idOf(open) ? open : other)) });
  }
}

const idOf = ({ response }: OpenResponse): string => response.facts.id;
