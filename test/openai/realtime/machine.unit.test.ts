/** The state machine of a session, walked at random: whatever a client and its speech do, the laws hold. */
import { expect, it } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { openaiContract } from '../../../src/contract/document.ts';
import { eventCheckOf } from '../../../src/contract/event-check.ts';
import { readClientEvent } from '../../../src/openai/realtime/client-events.ts';
import { toSpeechOptions } from '../../../src/openai/realtime/input-config.ts';
import {
  newIdentity,
  openConfig,
  toSession,
  updateConfig,
  type SessionConfig,
} from '../../../src/openai/realtime/session-config.ts';
import { beginSession, next, type SessionEvent } from '../../../src/openai/realtime/session.ts';
import fc from '../../support/fast-check.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import { append, clear, commit, servicesWith, update } from './support.ts';

const services = servicesWith();
const vad = openConfig(services, undefined);
const manual = updateConfig(vad, update({ turn_detection: null }).session as never, services);

/** A speech session as simple as possible, and what the client has read. */
class Walk {
  readonly events: WireEvent[] = [];
  closes = 0;
  state = beginSession({ id: 'sess_1', expires_at: 1 }, vad);
  #next: SessionConfig = vad;
  #open: { readonly id: string; isStopped: boolean } | undefined;
  readonly #pending: string[] = [];
  #turns = 0;
  #clock = 0;

  constructor() {
    this.apply({ type: 'opened', isConfigured: false });
  }

  apply(event: SessionEvent): void {
    const wasOver = this.state.isOver;
    const { state, effects } = next(this.state, event, 0);
    this.state = state;
    if (wasOver) expect(effects).toEqual([]);
    for (const effect of effects) {
      if (effect.type === 'send') this.events.push({ event_id: `event_${this.events.length}`, ...effect.event });
      if (effect.type === 'close') this.closes += 1;
      if (effect.type === 'append') this.#speak();
      if (effect.type === 'update') this.apply({ type: 'updated', config: this.#next });
      if (effect.type === 'clear') this.#forget();
      if (effect.type === 'commit') this.#commit(effect.eventId);
    }
  }

  say(message: object | string): void {
    this.apply(readClientEvent(typeof message === 'string' ? message : JSON.stringify(message), 'transcription'));
  }

  configure(config: SessionConfig): void {
    this.#next = config;
    this.say(update({}));
  }

  start(): void {
    if (this.#open || this.state.config.input?.detection === null) return;
    this.#open = { id: this.#newTurn(), isStopped: false };
    this.apply({ type: 'turn', event: { type: 'started', turn: this.#open.id, ms: this.#clock } });
  }

  stop(): void {
    if (!this.#open || this.#open.isStopped) return;
    this.#open.isStopped = true;
    this.#clock += 500;
    this.apply({ type: 'turn', event: { type: 'stopped', turn: this.#open.id, ms: this.#clock } });
    this.#commit(null);
  }

  delta(): void {
    const turn = this.#pending[0];
    if (turn !== undefined) this.apply({ type: 'turn', event: { type: 'delta', turn, text: 'a' } });
  }

  /** Any turn that waits ends next. */
  end(index: number, fails: boolean): void {
    const [turn] = this.#pending.splice(index % Math.max(1, this.#pending.length), 1);
    if (turn === undefined) return;
    const deltas = this.events.filter(({ item_id: id, delta }) => id === turn && delta !== undefined).length;
    const error = new EngineError('engine-failed', 'It broke.');
    this.apply({
      type: 'turn',
      event: fails
        ? { type: 'failed', turn, error }
        : { type: 'completed', turn, transcript: 'a'.repeat(deltas), seconds: 1 },
    });
  }

  endAll(): void {
    while (this.#pending.length > 0) this.end(0, false);
  }

  #newTurn(): string {
    this.#turns += 1;
    return `item_${this.#turns}`;
  }

  #speak(): void {
    if (this.#open || this.state.config.input?.detection !== null) return;
    this.#open = { id: this.#newTurn(), isStopped: true };
    this.apply({ type: 'turn', event: { type: 'voice', turn: this.#open.id } });
  }

  #forget(): void {
    const turn = this.#open?.id;
    this.#open = undefined;
    if (turn !== undefined) this.apply({ type: 'turn', event: { type: 'forgotten', turn } });
  }

  #commit(cause: string | null): void {
    const turn = this.#open?.id;
    this.#open = undefined;
    if (turn === undefined) return this.apply({ type: 'turn', event: { type: 'nothing', cause } });
    if (!this.state.isOver) this.#pending.push(turn);
    this.apply({ type: 'turn', event: { type: 'committed', turn } });
  }
}

const actions: readonly ((walk: Walk, number: number) => void)[] = [
  (walk) => walk.say(append('sound')),
  (walk) => walk.say(commit),
  (walk) => walk.say(clear),
  (walk) => walk.configure(manual),
  (walk) => walk.configure(vad),
  (walk) => walk.start(),
  (walk) => walk.stop(),
  (walk) => walk.delta(),
  (walk, number) => walk.end(number, number % 3 === 0),
  (walk, number) => walk.say(garbage[number % garbage.length]!),
];

const garbage = ['', '{"type":1}', '{"type":"response.create"}', '{"type":"session.update","session":[]}'];

/** At most one of them happens, after the number of actions. */
const ends: readonly SessionEvent[] = [
  { type: 'draining' },
  { type: 'concluding' },
  { type: 'expired' },
  { type: 'failed', error: new TypeError('a bug') },
];

it('keeps the laws, and nothing happens after the end', () => {
  const action = fc.tuple(fc.nat({ max: actions.length - 1 }), fc.nat({ max: 20 }));
  const end = fc.option(fc.tuple(fc.nat({ max: ends.length - 1 }), fc.nat({ max: 40 })));
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), end, (steps, ending) => {
      const walk = new Walk();
      for (const [index, [kind, number]] of steps.entries()) {
        if (ending?.[1] === index) walk.apply(ends[ending[0]]!);
        actions[kind]!(walk, number);
      }
      walk.endAll();
      walk.say(clear);
      expect(breachesOf(walk.events, { isWhole: !walk.state.isOver })).toEqual([]);
      const hasEnded = ending !== null && ending[1] < steps.length;
      expect([walk.state.isOver, walk.closes]).toEqual([hasEnded, hasEnded ? 1 : 0]);
    }),
    { numRuns: 500 },
  );
});

/** Fields with values of their type or any other, or none. */
const fields = (known: Readonly<Record<string, fc.Arbitrary<unknown>>>) => {
  const others = fc.jsonValue({ maxDepth: 1 });
  const loose = Object.entries(known).map(([name, value]) => [
    name,
    fc.oneof({ arbitrary: value, weight: 12 }, { arbitrary: fc.constant(null), weight: 2 }, others),
  ]);
  return fc.record(Object.fromEntries(loose) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
};

const inputs = fields({
  format: fields({ type: fc.constantFrom('audio/pcm', 'audio/pcmu', 'audio/pcma'), rate: fc.integer({ max: 60_000 }) }),
  turn_detection: fields({
    type: fc.constantFrom('server_vad', 'semantic_vad'),
    threshold: fc.double({ noNaN: true, noDefaultInfinity: true }),
    prefix_padding_ms: fc.integer(),
    silence_duration_ms: fc.integer(),
    eagerness: fc.constantFrom('low', 'high', 'auto'),
  }),
  transcription: fields({
    model: fc.constantFrom('plain', 'full', 'prompts', 'whisper-1', ''),
    language: fc.constantFrom('de', 'en-US', 'klingon', ''),
    languages: fc.array(fc.constantFrom('de', 'fr', 'xx')),
    keywords: fc.array(fc.string()),
    prompt: fc.string(),
    delay: fc.string(),
  }),
  noise_reduction: fc.jsonValue(),
});

it('has a valid session after any updates, each of which takes effect or is refused', () => {
  const { errorsOf } = eventCheckOf(openaiContract, 'RealtimeTranscriptionServerEvent');
  fc.assert(
    fc.property(fc.array(inputs, { maxLength: 4 }), (updates) => {
      let config = vad;
      for (const input of updates) {
        const read = readClientEvent(JSON.stringify(update(input)), 'transcription');
        if (read.type === 'refused') expect(read.error.param).toMatch(/^session\.audio\.input/);
        else if (read.event.type === 'session.update') {
          try {
            config = updateConfig(config, read.event.session, services);
          } catch (error) {
            expect(error).toMatchObject({ code: 'unknown-model' });
          }
        }
      }
      const session = toSession(config, newIdentity());
      const updated: WireEvent = { type: 'session.updated', event_id: 'event_1', session };
      expect(errorsOf(updated)).toEqual([]);
      expect(toSpeechOptions(config.input).hints.model).toBe(session.audio.input.transcription.model);
    }),
    { numRuns: 300 },
  );
});

it('reads any message as an event or as a refusal', () => {
  const types = fc.constantFrom(
    'session.update',
    'input_audio_buffer.append',
    'input_audio_buffer.commit',
    '__proto__',
  );
  const events = fc.tuple(fc.object(), types).map(([object, type]) => JSON.stringify({ ...object, type }));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), events), (text) => {
      expect(readClientEvent(text, 'transcription').type).toMatch(/^(received|refused)$/);
    }),
  );
});
