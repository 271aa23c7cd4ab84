/** The table of a conversation, walked at random: whatever a client, its speech and the model do, the laws hold. */
import { expect, it } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { readClientEvent } from '../../../src/openai/realtime/client-events.ts';
import { openConversation, type ConversationConfig } from '../../../src/openai/realtime/conversation-config.ts';
import { planAnswer, toRun, type Run } from '../../../src/openai/realtime/response-plan.ts';
import type { ResponsePart } from '../../../src/openai/realtime/response.ts';
import { updateConfig } from '../../../src/openai/realtime/session-config.ts';
import { beginSession, isIdle, next, type SessionEvent } from '../../../src/openai/realtime/session.ts';
import fc from '../../support/fast-check.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import { servicesWith } from './support.ts';

const services = servicesWith(undefined, { speech: [{ id: 'voice' }] });
const spoken = openConversation(services, undefined);
const configOf = (audio: object, more: object = {}) =>
  updateConfig(spoken, { type: 'realtime', audio: { input: audio }, ...more }, services);
const interrupting = configOf({ transcription: {} });
const patient = configOf({ transcription: {}, turn_detection: { interrupt_response: false } });
const written = configOf({ transcription: {} }, { output_modalities: ['text'] });
const configs = [interrupting, patient, written];

/** The client, its speech, and the runs of the model. */
class Walk {
  readonly events: WireEvent[] = [];
  state = beginSession({ id: 'sess_1', expires_at: 1 }, interrupting);
  now = 0;
  /** The runs whose parts the session awaits. */
  readonly runs: { readonly response: string; readonly isSpoken: boolean; hasPiece: boolean }[] = [];
  /** The runs that have begun early. */
  readonly prepared = new Map<string, Run>();
  released = 0;
  #turn: string | undefined;
  #isEarly = false;
  readonly #pending: string[] = [];
  #turns = 0;

  constructor() {
    this.apply({ type: 'opened', isConfigured: false });
  }

  apply(event: SessionEvent): void {
    const { state, effects } = next(this.state, event, this.now);
    this.state = state;
    for (const effect of effects) {
      if (effect.type === 'send') this.events.push({ event_id: `event_${this.events.length}`, ...effect.event });
      if (effect.type === 'transcribe') this.#pending.push(effect.item);
      if (effect.type === 'run') this.#begin(effect.response, effect.run);
      if (effect.type === 'prepare') this.prepared.set(effect.response, effect.run);
      if (effect.type === 'release') this.#release(effect.response);
      if (effect.type === 'stop') this.prepared.delete(effect.response);
    }
  }

  #begin(response: string, { call, settings }: Run): void {
    expect(call.messages.length).toBeGreaterThan(0);
    this.runs.push({ response, isSpoken: settings.modality === 'audio', hasPiece: false });
  }

  /** The run that began early must equal the one that would begin now. */
  #release(response: string): void {
    const run = this.prepared.get(response)!;
    const config = this.state.config as ConversationConfig;
    expect(run).toEqual(toRun(planAnswer(config), config, this.state.talk));
    this.prepared.delete(response);
    this.released += 1;
    this.#begin(response, run);
  }

  say(event: object): void {
    this.apply(readClientEvent(JSON.stringify(event), 'realtime'));
  }

  configure(config: typeof spoken): void {
    this.apply({ type: 'updated', config });
  }

  get items(): readonly string[] {
    return this.events.flatMap(({ type, item }) => (type === 'conversation.item.added' && item ? [item.id] : []));
  }

  itemAt(number: number): string {
    const { items } = this;
    return items[number % Math.max(1, items.length)] ?? 'none';
  }

  startTurn(): void {
    if (this.#turn !== undefined) return;
    this.#turns += 1;
    this.#turn = `turn_${this.#turns}`;
    this.#isEarly = false;
    this.#tell({ type: 'started', ms: this.now });
  }

  /** The user pauses, or continues to speak. */
  pauseTurn(): void {
    if (this.#turn === undefined) return;
    this.#isEarly = !this.#isEarly;
    this.#tell(this.#isEarly ? { type: 'early', transcript: 'Hello.', languages: ['de'] } : { type: 'resumed' });
  }

  endTurn(isForgotten: boolean): void {
    if (this.#turn === undefined) return;
    if (isForgotten) {
      this.events.push({ event_id: `clear_${this.events.length}`, type: 'input_audio_buffer.cleared' });
      this.#tell({ type: 'forgotten' });
    } else {
      this.#tell({ type: 'stopped', ms: this.now });
      this.#pending.push(this.#turn);
      this.#tell({ type: 'committed' });
    }
    this.#turn = undefined;
  }

  transcribe(number: number): void {
    const [turn] = this.#pending.splice(number % Math.max(1, this.#pending.length), 1);
    if (turn === undefined) return;
    if (number % 4 === 0) {
      this.apply({ type: 'turn', event: { type: 'failed', turn, error: new EngineError('engine-failed', 'Broken.') } });
      return;
    }
    const transcript = number % 4 === 1 ? '' : 'Hello.';
    this.apply({ type: 'turn', event: { type: 'completed', turn, transcript, seconds: 1, languages: ['de'] } });
  }

  #tell(progress: object): void {
    this.apply({ type: 'turn', event: { turn: this.#turn, ...progress } } as SessionEvent);
  }

  /** The next part of a run, which may have been canceled. */
  answer(number: number): void {
    const run = this.runs[number % Math.max(1, this.runs.length)];
    if (!run) return;
    const sound: ResponsePart = { type: 'sound', audio: 'AAAA', ms: 100, db: -20 };
    const piece: ResponsePart = { type: 'piece', text: 'A piece of words. ' };
    const text: ResponsePart = { type: 'text', text: 'word ' };
    const part = !run.isSpoken ? text : run.hasPiece && number % 3 > 0 ? sound : piece;
    run.hasPiece ||= part.type === 'piece';
    this.apply({ type: 'part', response: run.response, part });
  }

  end(number: number): void {
    const [run] = this.runs.splice(number % Math.max(1, this.runs.length), 1);
    if (!run) return;
    const { response } = run;
    const calls = Array.from({ length: number % 3 }, (_, call) => ({
      id: `call_${call}`,
      name: 'tool',
      arguments: '',
    }));
    if (calls.length > 0) this.apply({ type: 'part', response, part: { type: 'calls', calls } });
    if (number % 5 === 0) return this.apply({ type: 'broken', response, error: new TypeError('secret') });
    const reason = number % 5 === 1 ? 'max_output_tokens' : undefined;
    const end = reason ? ({ status: 'incomplete', reason } as const) : ({ status: 'completed' } as const);
    this.apply({ type: 'answered', response, end: { ...end, usage: null } });
  }

  /** Ends all that is open. An owed answer then begins, and ends as well. */
  endAll(): void {
    this.endTurn(false);
    for (let count = 0; count < 100 && !isIdle(this.state); count += 1) {
      this.transcribe(2);
      this.end(2);
    }
  }
}

const message = (text: string, more: object = {}) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }], ...more },
});

const recorded = (more: object) => message('', { content: [{ type: 'input_audio', audio: 'AAAA' }], ...more });

const actions: readonly ((walk: Walk, number: number) => void)[] = [
  (walk) => walk.say(message('Hi.')),
  (walk, number) => walk.say({ ...message('Hi.'), previous_item_id: number % 2 ? 'root' : walk.itemAt(number) }),
  (walk, number) => walk.say(message('Hi.', { id: walk.itemAt(number) })),
  (walk, number) => walk.say(recorded({ ...(number % 2 && { id: walk.itemAt(number) }) })),
  (walk, number) => walk.say({ type: 'conversation.item.delete', item_id: walk.itemAt(number) }),
  (walk, number) => walk.say({ type: 'conversation.item.retrieve', item_id: walk.itemAt(number) }),
  (walk, number) =>
    walk.say({
      ...{ type: 'conversation.item.truncate', item_id: walk.itemAt(walk.items.length - 1 - (number % 3)) },
      ...{ content_index: 0, audio_end_ms: 50 * number },
    }),
  (walk) => walk.say({ type: 'response.create' }),
  (walk, number) =>
    walk.say({
      type: 'response.create',
      response: { conversation: 'none', instructions: 'Say it.', ...(number % 2 && { input: [] }) },
    }),
  (walk) => walk.say({ type: 'response.cancel' }),
  (walk, number) => walk.say({ type: 'response.cancel', response_id: walk.runs[number % 3]?.response ?? 'none' }),
  (walk) => walk.startTurn(),
  ...Array.from({ length: 3 }, () => (walk: Walk) => walk.pauseTurn()),
  (walk, number) => walk.endTurn(number % 4 === 0),
  (walk, number) => walk.transcribe(number),
  (walk) => walk.transcribe(2),
  ...Array.from({ length: 5 }, () => (walk: Walk, number: number) => walk.answer(number)),
  (walk, number) => walk.end(number),
  (walk, number) => walk.configure(configs[number % configs.length]!),
  (walk, number) => (walk.now += 40 * number),
];

it('keeps the laws, and ends each response', () => {
  const action = fc.tuple(fc.nat({ max: actions.length - 1 }), fc.nat({ max: 20 }));
  const answered = { turns: 0, cancelled: 0, early: 0 };
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 80 }), (steps) => {
      const walk = new Walk();
      for (const [kind, number] of steps) actions[kind]!(walk, number);
      walk.endAll();
      expect(isIdle(walk.state)).toBe(true);
      expect(walk.prepared.size).toBe(0);
      answered.early += walk.released;
      expect(breachesOf(walk.events, { isWhole: true })).toEqual([]);
      answered.turns += walk.events.filter(({ type }) => type === 'response.done').length;
      answered.cancelled += walk.events.filter(({ response }) => response?.status === 'cancelled').length;
    }),
    { numRuns: 500 },
  );
  expect(answered.turns).toBeGreaterThan(500);
  expect(answered.cancelled).toBeGreaterThan(50);
  expect(answered.early).toBeGreaterThan(15);
});
