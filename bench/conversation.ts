/**
 * Live conversations over a real socket: the service's own share of the wait for an answer, what an early answer saves,
 * and interruptions. The engines take a known time, and the voice is quicker than the sound that it makes.
 */
import { quiet, sound, voice } from '../test/realtime/support.ts';
import { spawnService } from '../test/support/child-service.ts';
import { commitEvent, liveRate, openLiveSession, type LiveSession } from './support/live-session.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const engineMs = 100;
const sentences = 20;

const engineOf = (capability: string, body: string, models: readonly object[] = [{ id: capability, local: false }]) => `
import { setTimeout as wait } from 'node:timers/promises';
export default {
  contract: 1,
  name: 'known-${capability}',
  capability: '${capability}',
  options: { type: 'object', properties: {} },
  create: () => ({ models: ${JSON.stringify(models)}, ${body} }),
};
`;

const transcribe = `async transcribe() {
  await wait(${engineMs});
  return { text: 'Tell me a story.', language: 'en', durationMs: 1000 };
}`;

/** The answer has twenty sentences, each of which is written in 100 ms and spoken in 100 ms, for 3 s. */
export const files = {
  'ears.mjs': engineOf('transcription', transcribe),
  'brain.mjs': engineOf(
    'chat',
    `async *complete() {
      yield { type: 'step-started', step: 0 };
      let content = '';
      for (let n = 0; n < ${sentences}; n++) {
        await wait(${engineMs});
        const delta = 'This is a sentence of a long story that does not end. ';
        content += delta;
        yield { type: 'content-delta', step: 0, delta };
      }
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    }`,
  ),
  'mouth.mjs': engineOf(
    'speech',
    `async synthesize() {
      await wait(${engineMs});
      const audio = (async function* () { yield new Uint8Array(3 * 48000).fill(16); })();
      return { mediaType: 'audio/pcm', audio };
    }`,
  ),
};

/** One sentence, which is written in 300 ms and spoken in 100 ms. An answer of the model `hosted` never begins early. */
const localFiles = {
  'ears.mjs': engineOf('transcription', transcribe, [{ id: 'ears', local: true }]),
  'brain.mjs': engineOf(
    'chat',
    `async *complete() {
      yield { type: 'step-started', step: 0 };
      await wait(${3 * engineMs});
      const content = 'There was a king.';
      yield { type: 'content-delta', step: 0, delta: content };
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    }`,
    [
      { id: 'local', local: true },
      { id: 'hosted', local: false },
    ],
  ),
  'mouth.mjs': engineOf(
    'speech',
    `async synthesize() {
      await wait(${engineMs});
      const audio = (async function* () { yield new Uint8Array(4800).fill(16); })();
      return { mediaType: 'audio/pcm', audio };
    }`,
    [{ id: 'mouth', local: true }],
  ),
};

export const config =
  'engines: { ears: { use: ./ears.mjs }, brain: { use: ./brain.mjs }, mouth: { use: ./mouth.mjs } }\n';

const update = (detection: object | null) => ({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: { turn_detection: detection } } },
});

const firstSound = 'response.output_audio.delta';
const utterance = sound(liveRate, [quiet, 300], [voice, 1_000]);
const room = sound(liveRate, [quiet, 700]);

export async function benchConversation({ rounds }: BenchOptions): Promise<Row[]> {
  await using service = await spawnService({ env: { NODE_ENV: 'production' }, config, files });
  await using session = await openLiveSession(service, { query: 'model=chat' });
  const own = await answers(session, rounds);
  return [...own, await earlyAnswers(Math.min(rounds, 7)), ...(await interruptions(session, Math.min(rounds, 7)))];
}

/** The silence that ends a turn takes 600 ms. Until its first answer, it is unknown how long the models take. */
async function earlyAnswers(rounds: number): Promise<Row> {
  await using service = await spawnService({ env: { NODE_ENV: 'production' }, config, files: localFiles });
  await using local = await openLiveSession(service, { query: 'model=local' });
  await using hosted = await openLiveSession(service, { query: 'model=hosted' });
  for (const session of [local, hosted]) session.say(update({ type: 'semantic_vad' }));
  const answered = (session: LiveSession) => async () => {
    const done = session.next('response.done');
    const { waitMs } = await speak(session, false);
    await done;
    return waitMs;
  };
  const waits = await interleave({ early: answered(local), usual: answered(hosted) }, rounds);
  const [earlyMs, usualMs] = [median(waits.early), median(waits.usual)];
  return {
    what: '  from the end of the speech to the first sound of an answer that begins early, with a silence of 600 ms',
    measured: milliseconds(earlyMs),
    against: `${milliseconds(usualMs)} with a hosted model`,
    ratio: earlyMs / usualMs,
    goal: { atLeast: 250, value: usualMs - earlyMs, unit: 'ms saved' },
  };
}

/** Turns that the client commits. The first one loads all modules. */
async function answers(session: LiveSession, rounds: number): Promise<Row[]> {
  session.say(update(null));
  const waits: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    session.append(utterance, 100);
    const [first, done] = [session.next(firstSound), session.next('response.done')];
    const started = performance.now();
    session.say(commitEvent);
    session.say({ type: 'response.create' });
    await first;
    const waitMs = performance.now() - started;
    // Beyond 15 s, the sound comes as it is played.
    session.say({ type: 'response.cancel' });
    await done;
    if (round > 0) waits.push(waitMs);
  }
  const waitMs = median(waits);
  const wholeMs = sentences * engineMs;
  const ownMs = waitMs - 4 * engineMs;
  return [
    {
      what: `from the commit of a turn to the first sound of its answer, with engines that take ${4 * engineMs} ms`,
      measured: milliseconds(waitMs),
      against: `${milliseconds(wholeMs)} until the answer is written`,
      ratio: waitMs / wholeMs,
      goal: { atMost: 30, value: ownMs, unit: 'ms more than the engines' },
    },
  ];
}

interface Turn {
  /** Milliseconds from the end of the speech to the first sound of the answer. */
  readonly waitMs: number;
  /** From the first sound of the speaker, and from the start of the turn, to the end of the answer that was playing. */
  readonly cutMs?: number;
  readonly closeMs?: number;
}

/** The first turn is undisturbed, and each further one interrupts the answer to the one before. */
async function interruptions(session: LiveSession, rounds: number): Promise<Row[]> {
  session.say(update({ type: 'server_vad' }));
  const undisturbed: number[] = [];
  const interrupting: Turn[] = [];
  for (let round = 0; round < rounds; round++) {
    undisturbed.push((await speak(session, false)).waitMs);
    interrupting.push(await speak(session, true));
    session.say({ type: 'response.cancel' });
    await session.next('response.done');
  }
  const medianOf = (field: keyof Turn) => median(interrupting.map((turn) => turn[field] ?? Infinity));
  const [waitMs, cutMs, closeMs] = [medianOf('waitMs'), medianOf('cutMs'), medianOf('closeMs')];
  const usualMs = median(undisturbed);
  return [
    {
      what: '  from the first sound of a speaker to the end of the answer that was playing, by level alone',
      measured: milliseconds(cutMs),
      against: '240 ms of voice',
      ratio: cutMs / 240,
      goal: { atMost: 600, value: cutMs, unit: 'ms' },
    },
    {
      what: '  from the start of the turn to the end of the answer',
      measured: milliseconds(closeMs),
      against: '100 ms',
      ratio: closeMs / 100,
      goal: { atMost: 1 },
    },
    {
      what: '  from the end of the speech that interrupted to the first sound of its answer',
      measured: milliseconds(waitMs),
      against: `${milliseconds(usualMs)} in a turn that interrupts nothing`,
      ratio: waitMs / usualMs,
      goal: { atMost: 1.2 },
    },
  ];
}

async function speak(session: LiveSession, interrupts: boolean): Promise<Turn> {
  const at: Partial<Record<'started' | 'cut' | 'first', number>> = {};
  const note = async (name: keyof typeof at, type: string) => {
    await session.next(type);
    at[name] = performance.now();
  };
  const spokenAt = performance.now() + 300; // after the silence of the utterance
  const events = [
    note('started', 'input_audio_buffer.speech_started'),
    ...(interrupts ? [note('cut', 'response.done')] : []),
  ];
  await session.speak(utterance, 20);
  await Promise.all(events);
  const endAt = performance.now();
  const first = note('first', firstSound);
  await session.speak(room, 20);
  await first;
  const { started = 0, cut, first: firstAt = 0 } = at;
  return { waitMs: firstAt - endAt, ...(cut !== undefined && { cutMs: cut - spokenAt, closeMs: cut - started }) };
}

if (import.meta.main) await runBenchmarks([benchConversation]);
