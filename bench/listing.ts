/**
 * The duration of a listing and of the probe while the queue is full of real jobs, compared with an idle service.
 *
 * A third state separates the cost of the service itself: the same jobs run for another service. Their effect on an
 * idle service is that of the machine: they use all cores, and the client needs one as well.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildService } from '../test/support/child-service.ts';
import { writeParrotModel } from './support/parrot-model.ts';
import { makeClip, type Clip } from './support/clip.ts';
import { interleave, median, percentile } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { startBenchService, transcribe } from './support/service.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const paths = { listing: '/api/v1/transcribe/models', probe: '/api/v1/transcribe' } as const;
type Name = keyof typeof paths;
/** Milliseconds of each request. */
type Times = Record<Name, number[]>;

const requestsPerRound = 50;
/** Pause between requests: without it, the client loads the machine as much as the jobs do. */
const pauseMs = 10;

const waiting = 16;

export async function benchListing({ model, rounds, slots, threads }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const modelFile = join(directory.path, 'model.bin');
  await writeParrotModel(modelFile, { size: model });
  const clip = await makeClip(directory.path);
  const places = slots + waiting;
  await using service = await startBenchService({ modelFile, slots, threads, waiting });
  await using other = await startBenchService({ modelFile, slots, threads, waiting });
  const { idle, full, beside } = await interleave(
    {
      idle: () => timesWhile([], { service, code: 'ready' }),
      full: () => timesWhile(jobs(service, clip, places), { service, code: 'busy' }),
      beside: () => timesWhile(jobs(other, clip, places), { service, code: 'ready' }),
    },
    rounds,
  );
  return (['listing', 'probe'] as const).flatMap((name) => {
    const what = `GET ${paths[name]}, queue full`;
    const times = (rounds: readonly Times[]) => rounds.flatMap((round) => round[name]);
    return compare(what, { idle: times(idle), full: times(full), beside: times(beside) });
  });
}

type Work = (signal: AbortSignal) => Promise<unknown>;

/** One caller per slot, each with one recording after the other. */
function jobs(service: ChildService, { bytes }: Clip, places: number): Work[] {
  const recording = new Blob([new Uint8Array(bytes)]);
  return Array<Work>(places).fill((signal) => transcribe(service, recording, { signal }));
}

interface Asked {
  readonly service: ChildService;
  /** The state of the service according to its probe, before and after. */
  readonly code: string;
}

/** Alternates between listing and probe while the work is repeated, then ends the work. */
async function timesWhile(works: readonly Work[], { service, code }: Asked): Promise<Times> {
  const ending = new AbortController();
  const working = works.map((work) => repeat(work, ending.signal));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: Times = { listing: [], probe: [] };
  await untilProbeSays(code, service, agent);
  await pause(300); // programs of the previous state have ended, and those of this state are running
  for (let request = 0; request < requestsPerRound; request++) {
    for (const name of ['listing', 'probe'] as const) {
      const started = performance.now();
      await fetchText(`${service.url}${paths[name]}`, agent);
      times[name].push(performance.now() - started);
      await pause(pauseMs);
    }
  }
  await untilProbeSays(code, service, agent);
  ending.abort();
  await Promise.all(working);
  agent.destroy();
  return times;
}

async function repeat(work: Work, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Between two jobs a slot is free for a moment, so that a single look is not enough. */
async function untilProbeSays(code: string, { url }: ChildService, agent: Agent): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const said = await fetchText(`${url}${paths.probe}`, agent);
    if ((JSON.parse(said) as { code: string }).code === code) return;
    if (performance.now() > deadline) throw new Error(`the probe was to say ${code}, not: ${said}`);
    await pause(10);
  }
}

/** Uses node:http, whose own share of the time is smaller than that of fetch. */
async function fetchText(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => void text(response).then(resolve, reject)).once('error', reject);
  });
}

function compare(what: string, { idle, full, beside }: Record<'idle' | 'full' | 'beside', readonly number[]>): Row[] {
  const p99 = (values: readonly number[]) => percentile(values, 99);
  const row = (what: string, of: (values: readonly number[]) => number, other: readonly number[], state: string) => ({
    what,
    measured: milliseconds(of(full)),
    against: `${milliseconds(of(other))} ${state}`,
    ratio: of(full) / of(other),
  });
  return [
    { ...row(what, median, idle, 'idle'), goal: { atMost: 2 } },
    row('  p99', p99, idle, 'idle'),
    row('  against the same jobs of another service', median, beside, 'beside'),
    row('  p99', p99, beside, 'beside'),
  ];
}

if (import.meta.main) await runBenchmarks([benchListing]);
