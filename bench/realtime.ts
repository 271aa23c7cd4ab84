/** Live sessions: a WAV by commits against the same over HTTP, and what early transcription saves and costs. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Registry } from '../src/engine-host/registry/registry.ts';
import { openHearing, type HeardEvent, type HearingOptions } from '../src/realtime/hearing.ts';
import { runInScope } from '../src/request-scope.ts';
import { createWorkspace } from '../src/system/workspace.ts';
import { byHand, quiet, registryOf, sound, usual, voice } from '../test/realtime/support.ts';
import { writeParrotModel } from '../test/support/parrot-model.ts';
import { requireProgram } from '../test/support/programs.ts';
import { startTestService } from '../test/support/service.ts';
import { toneWav } from '../test/support/tone-model.ts';
import { assertSaid } from './support/clip.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { transcribe } from './support/service.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const rate = 24_000;
/** An utterance with pauses of 300 ms, and so much silence that it has ended. */
const utterance = Buffer.concat([
  sound(rate, [quiet, 300]),
  ...Array.from({ length: 4 }, () => sound(rate, [voice, 500], [quiet, 300])),
  sound(rate, [quiet, 200]),
]);
const frameBytes = 0.02 * rate * 2;
const engineMs = 300;

export async function benchRealtime(options: BenchOptions): Promise<Row[]> {
  return [await byCommits(options), ...(await early(options))];
}

/** A session in this process. The places of the protocol that the door adds are measured by its own rows. */
async function open(registry: Registry, options: HearingOptions) {
  const directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const workspace = await createWorkspace(directory.path);
  const events: HeardEvent[] = [];
  let charges = 0;
  const scope = { caller: 'bench', charge: () => void (charges += 1) };
  const { signal } = new AbortController();
  let ended = Promise.withResolvers<string>();
  const emit = (event: HeardEvent) => {
    events.push(event);
    if (event.type === 'completed') ended.resolve(event.transcript);
    if (event.type === 'failed') ended.reject(event.error);
  };
  const services = { workspace, registry, transcribeTimeout: 60 };
  const hearing = await runInScope(scope, () => openHearing(options, services, emit, signal));
  hearing.configure(options);
  return {
    hearing,
    get charges() {
      return charges;
    },
    turns: () => events.filter(({ type }) => type === 'committed').length,
    /** The transcript of the next turn. */
    next: () => (ended = Promise.withResolvers<string>()).promise,
    async [Symbol.asyncDispose]() {
      await hearing.end();
      workspace[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function byCommits({ model, rounds, slots, threads }: BenchOptions): Promise<Row> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const file = join(directory.path, 'model.bin');
  await writeParrotModel(file, { size: model });
  const local = {
    use: 'whisper-cli',
    program: requireProgram('whisper-cli'),
    models: [{ id: 'local', file }],
    slots,
    threads,
  };
  const config = JSON.stringify({ engines: { local } });
  await using service = await startTestService({ config, env: { NODE_ENV: 'production', TRANSCRIBE_SETUP: 'off' } });
  const wav = toneWav({ words: Array.from({ length: 18 }, () => 'alpha' as const), rate });
  const recording = new Blob([new Uint8Array(wav)]);
  const sounds = wav.subarray(44);
  await using session = await open(service.service.registry, { ...byHand, hints: { language: 'en' } });
  const commit = async () => {
    const transcript = session.next();
    await session.hearing.append(sounds);
    await session.hearing.commit();
    assertSaid(await transcript);
  };
  const post = async () => assertSaid((await transcribe(service, recording)).text);
  await post(); // loads the model
  const { ours, http } = await interleave({ ours: () => timed(commit), http: () => timed(post) }, rounds);
  const [measured, against] = [median(ours), median(http)];
  return {
    what: 'a live session, 10 s of sound by a commit',
    measured: milliseconds(measured),
    against: `${milliseconds(against)} POST /transcribe`,
    ratio: measured / against,
    goal: { atMost: 1.1 },
  };
}

/** With an engine that takes `ms` for every turn, and sound as it is spoken. */
async function turnsWith(ms: number, isLocal: boolean, rounds: number) {
  let calls = 0;
  const transcribing = async () => {
    calls += 1;
    await wait(ms);
    return { text: 'heard', language: null, durationMs: 1_000 };
  };
  await using session = await open(registryOf({ transcribe: transcribing, entry: { local: isLocal } }), usual);
  const waits: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const transcript = session.next();
    const started = performance.now();
    for (let at = 0; at < utterance.length; at += frameBytes) {
      await wait(Math.max(0, started + (20 * at) / frameBytes - performance.now()));
      await session.hearing.append(utterance.subarray(at, at + frameBytes));
    }
    waits.push(await timed(() => transcript));
  }
  return { calls, charges: session.charges, turns: session.turns(), waitMs: median(waits.slice(1)) };
}

async function early(options: BenchOptions): Promise<Row[]> {
  const rounds = Math.min(options.rounds, 5);
  const quick = await turnsWith(engineMs, true, rounds);
  const remote = await turnsWith(engineMs, false, rounds);
  const slow = await turnsWith(1_000, true, 2);
  const savedMs = remote.waitMs - quick.waitMs;
  return [
    {
      what: `  from the end of a turn to its transcript, by an engine that takes ${engineMs} ms`,
      measured: milliseconds(quick.waitMs),
      against: `${milliseconds(remote.waitMs)} without early transcription`,
      ratio: quick.waitMs / remote.waitMs,
      goal: { atLeast: 200, value: savedMs, unit: 'ms saved' },
    },
    {
      what: '  an utterance with three pauses of 300 ms, turns and charges',
      measured: `${quick.charges / (rounds + 1)} charges`,
      against: `${quick.turns / (rounds + 1)} turn`,
      ratio: quick.charges / quick.turns,
      goal: { atMost: 1, value: Math.max(quick.charges, quick.turns) / (rounds + 1), unit: 'for each' },
    },
    {
      what: '  calls of an engine that takes 1 s',
      measured: String(slow.calls),
      against: `${slow.turns} turns`,
      ratio: slow.calls / slow.turns,
      goal: { atMost: 1 },
    },
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

if (import.meta.main) await runBenchmarks([benchRealtime]);
