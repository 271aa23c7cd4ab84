/** The time that the service takes for a clip of ten seconds, compared with the same two programs run by hand. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildService } from '../test/support/child-service.ts';
import { writeParrotModel } from './support/parrot-model.ts';
import { prepareByHand } from './support/by-hand.ts';
import { assertSaid, makeClip, type Clip } from './support/clip.ts';
import {
  costOf,
  interleave,
  mean,
  median,
  processorMsOfFamily,
  processorMsOfChildren,
  type Cost,
} from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { startBenchService, transcribe } from './support/service.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

export async function benchTranscribe({ model, rounds, slots, threads }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const modelFile = join(directory.path, 'model.bin');
  await writeParrotModel(modelFile, { size: model });
  const clip = await makeClip(directory.path);
  const handWork = { clip: clip.path, modelFile, threads, directory: join(directory.path, 'by-hand') };
  const transcribeByHand = await prepareByHand(handWork);
  await using withFfmpeg = await startBenchService({ modelFile, slots, threads });
  await using withWasm = await startBenchService({ modelFile, slots, threads, env: { PATH: '/nothing/here' } });
  const { byHand, ffmpeg, wasm } = await interleave(
    {
      byHand: () => costOf(async () => assertSaid(await transcribeByHand()), processorMsOfChildren),
      ffmpeg: () => costOfRequest(withFfmpeg, clip),
      wasm: () => costOfRequest(withWasm, clip),
    },
    rounds,
  );
  const [first, ...others] = compare('POST /transcribe, 10 s of webm/opus', ffmpeg, byHand);
  return [{ ...first, goal: { atMost: 1.03 } }, ...others, ...compare('the same with the WASM decoders', wasm, byHand)];
}

function costOfRequest(service: ChildService, { bytes }: Clip): Promise<Cost> {
  const recording = new Blob([new Uint8Array(bytes)]);
  const request = async () => assertSaid((await transcribe(service, recording)).text);
  return costOf(request, () => processorMsOfFamily(service.pid));
}

/** Wall-clock time, and the two values that vary least on a busy machine: the best round, and processor time. */
function compare(what: string, ours: readonly Cost[], byHand: readonly Cost[]): [Row, Row, Row] {
  const clocked = [ours, byHand].map((costs) => costs.map(({ ms }) => ms)) as [number[], number[]];
  const worked = [ours, byHand].map((costs) => costs.map(({ processorMs }) => processorMs)) as [number[], number[]];
  return [
    row(what, median, clocked),
    row('  the fastest of each', (values) => Math.min(...values), clocked),
    // Processor time is counted in hundredths of a second, so that a median would be too coarse.
    row('  processor time (mean)', mean, worked),
  ];
}

function row(what: string, of: (values: readonly number[]) => number, [ours, byHand]: [number[], number[]]): Row {
  const [measured, against] = [of(ours), of(byHand)];
  return {
    what,
    measured: milliseconds(measured),
    against: `${milliseconds(against)} by hand`,
    ratio: measured / against,
  };
}

if (import.meta.main) await runBenchmarks([benchTranscribe]);
