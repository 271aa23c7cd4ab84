/**
 * Live transcription over a real socket: a recording that is committed compared with the same over HTTP, what early
 * transcription saves and costs, and what silent sessions of both types cost.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { config, files } from './conversation.ts';
import { quiet, sound, voice } from '../test/realtime/support.ts';
import { spawnService } from '../test/support/child-service.ts';
import { writeParrotModel } from './support/parrot-model.ts';
import { toneWav } from '../test/support/tone-model.ts';
import { assertSaid } from './support/clip.ts';
import { commitEvent, inputUpdate, liveRate, openLiveSession } from './support/live-session.ts';
import { interleave, median, processorMsOf } from './support/measure.ts';
import { memoryOf, reportsMemory } from './support/memory-of.ts';
import type { BenchOptions } from './support/options.ts';
import { startBenchService, transcribe } from './support/service.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

export async function benchRealtime(options: BenchOptions): Promise<Row[]> {
  return [await byCommits(options), ...(await early(options)), ...(await benchSilent())];
}

/** Both types of sessions, and the usual sizes of appends. */
async function benchSilent(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const type of ['transcription', 'conversation'] as const) {
    for (const pieceMs of [20, 100] as const) rows.push(...(await silent(type, pieceMs)));
  }
  return rows;
}

async function byCommits({ model, rounds, slots, threads }: BenchOptions): Promise<Row> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const modelFile = join(directory.path, 'model.bin');
  await writeParrotModel(modelFile, { size: model });
  await using service = await startBenchService({ modelFile, slots, threads });
  const wav = toneWav({ words: Array.from({ length: 18 }, () => 'alpha' as const), rate: liveRate });
  const recording = new Blob([new Uint8Array(wav)]);
  await using session = await openLiveSession(service);
  session.say(inputUpdate({ turn_detection: null, transcription: { language: 'en' } }));
  const commit = async () => {
    const transcript = session.transcript();
    session.append(wav.subarray(44), 100);
    session.say(commitEvent);
    assertSaid(await transcript);
  };
  const post = async () => assertSaid((await transcribe(service, recording)).text);
  await post(); // loads the model
  const { ours, http } = await interleave({ ours: () => timed(commit), http: () => timed(post) }, rounds);
  const [measured, against] = [median(ours), median(http)];
  return {
    what: 'a live session, 10 s of sound that is committed',
    measured: milliseconds(measured),
    against: `${milliseconds(against)} POST /transcribe`,
    ratio: measured / against,
    goal: { atMost: 1.1 },
  };
}

const engineMs = 300;

/** Every transcription takes a known time. Those of a remote model never begin early. */
const engine = `
import { setTimeout as wait } from 'node:timers/promises';
const times = { quick: ${engineMs}, remote: ${engineMs}, slow: 1000 };
export default {
  contract: 1,
  name: 'known-times',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: (_options, { log }) => ({
    models: Object.keys(times).map((id) => ({ id, local: id !== 'remote' })),
    async transcribe({ model }) {
      log.info({ model }, 'transcribe');
      await wait(times[model]);
      return { text: 'heard', language: 'en', durationMs: 1000 };
    },
  }),
};
`;

const models = ['quick', 'remote', 'slow'] as const;
type Model = (typeof models)[number];

/** With pauses of 300 ms. */
const utterance = Buffer.concat([
  sound(liveRate, [quiet, 300]),
  ...Array.from({ length: 3 }, () => sound(liveRate, [voice, 500], [quiet, 300])),
  sound(liveRate, [voice, 500]),
]);
const room = sound(liveRate, [quiet, 3_000]);

async function early(options: BenchOptions): Promise<Row[]> {
  const rounds = Math.min(options.rounds, 7);
  await using service = await spawnService({
    env: { NODE_ENV: 'production' },
    config: 'engines: { known: { use: ./engine.mjs } }\n',
    files: { 'engine.mjs': engine },
  });
  const waits: Record<Model, number[]> = { quick: [], remote: [], slow: [] };
  const turns: Record<Model, number> = { quick: 0, remote: 0, slow: 0 };
  const run = async (model: Model) => {
    await using session = await openLiveSession(service, { query: `intent=transcription&model=${model}` });
    for (let round = 0; round <= rounds; round++) {
      const transcript = session.transcript();
      await session.speak(utterance, 20);
      const spoken = performance.now();
      const silence = session.speak(room, 20);
      await transcript;
      if (round > 0) waits[model].push(performance.now() - spoken); // nothing is known of a model before its first turn
      await silence;
    }
    turns[model] = session.count('input_audio_buffer.committed');
  };
  await Promise.all(models.map(run));
  const calls = service.log().filter(({ msg, model }) => msg === 'transcribe' && model === 'slow').length;
  const [quickMs, remoteMs] = [median(waits.quick), median(waits.remote)];
  return [
    {
      what: `  from the end of the speech to its transcript, by an engine that takes ${engineMs} ms`,
      measured: milliseconds(quickMs),
      against: `${milliseconds(remoteMs)} without early transcription`,
      ratio: quickMs / remoteMs,
      goal: { atLeast: 200, value: remoteMs - quickMs, unit: 'ms saved' },
    },
    {
      what: '  an utterance with three pauses of 300 ms',
      measured: `${turns.quick / (rounds + 1)} turns`,
      against: '1 turn',
      ratio: turns.quick / (rounds + 1),
      goal: { atMost: 1 },
    },
    {
      what: '  by an engine that takes 1 s, calls for each turn',
      measured: `${calls} calls`,
      against: `${turns.slow} turns`,
      ratio: calls / turns.slow,
      goal: { atMost: 1 },
    },
  ];
}

const sessions = 100;
const watchedMs = 10_000;

const maxCores = { 20: 0.35, 100: 0.15 } as const;

async function silent(type: 'transcription' | 'conversation', pieceMs: 20 | 100): Promise<Row[]> {
  const query = type === 'conversation' ? 'model=chat' : 'intent=transcription';
  await using service = await spawnService({
    env: { NODE_ENV: 'production', REALTIME_SESSIONS: String(sessions + 1), LOG_LEVEL: 'warn' },
    config,
    files,
    nodeOptions: reportsMemory,
  });
  {
    await using first = await openLiveSession(service, { query }); // loads all modules
    await first.speak(room, pieceMs);
  }
  const idle = await memoryOf(service);
  await using open = new AsyncDisposableStack();
  const ended = { now: false };
  const speak = async () => {
    const session = open.use(await openLiveSession(service, { query }));
    while (!ended.now) await session.speak(room, pieceMs);
  };
  const speaking = Array.from({ length: sessions }, speak);
  await wait(5_000); // from then on, each session keeps the same amount of recent sound
  const [startedMs, started] = [processorMsOf(service.pid), performance.now()];
  await wait(watchedMs);
  const cores = (processorMsOf(service.pid) - startedMs) / (performance.now() - started);
  const live = await memoryOf(service);
  ended.now = true;
  await Promise.all(speaking);
  const held = (live.heapUsed + live.external - idle.heapUsed - idle.external) / sessions / 1e6;
  const resident = (live.rss - idle.rss) / sessions / 1e6;
  return [
    {
      what: `memory that each of ${sessions} silent ${type} sessions holds, in appends of ${pieceMs} ms`,
      measured: `${held.toFixed(2)} MB`,
      against: `${resident.toFixed(2)} MB of the process (RSS)`,
      ratio: held / resident,
      goal: { atMost: 0.3, value: held, unit: 'MB' },
    },
    {
      what: '  the processor time of all',
      measured: `${cores.toFixed(2)} cores`,
      against: '1 core',
      ratio: cores,
      goal: { atMost: maxCores[pieceMs] },
      note: 'In appends of 20 ms these are 5,000 messages per second, and each costs more than the sound in it.',
    },
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

if (import.meta.main) await runBenchmarks([benchRealtime]);
