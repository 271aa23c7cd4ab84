/** Memory of the service for twenty concurrent uploads of the largest recording that is accepted. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toneWav, words, writeToneModel } from '../test/support/tone-model.ts';
import type { BenchOptions } from './support/options.ts';
import { startBenchService, transcribe } from './support/service.ts';
import { megabytes, runBenchmarks, type Row } from './support/table.ts';

const uploads = 20;
const largestBytes = 26_214_400;

/** Decoding and transcribing are real, so that everything that an upload needs is measured. */
export async function benchMemory({ slots }: Pick<BenchOptions, 'slots'>): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const modelFile = join(directory.path, 'model.bin');
  await writeToneModel(modelFile);
  await using service = await startBenchService({ modelFile, slots, threads: 1, waiting: uploads });
  await transcribe(service, new Blob([new Uint8Array(toneWav({ words, rate: 16_000 }))]));
  const idle = service.memory().now;
  const recording = largestRecording();
  const answers = await Promise.all(Array.from({ length: uploads }, () => transcribe(service, recording)));
  const wrong = answers.find(({ text }) => text !== words.join(' '));
  if (wrong) throw new Error(`an upload was answered with ${wrong.status}: ${wrong.text}`);
  const { peak } = service.memory();
  return [
    {
      what: `memory (RSS) under ${uploads} uploads of 25 MB at once, highest`,
      measured: megabytes(peak),
      against: `${megabytes(idle)} idle`,
      ratio: peak / idle,
      goal: { atMost: 250, value: peak / 1e6, unit: 'MB' },
    },
  ];
}

/** A sample rate so high that the recording is short: half a minute. */
function largestRecording(): Blob {
  const speech = { words, rate: 192_000, channels: 2 };
  const missingBytes = largestBytes - toneWav({ ...speech, tailSeconds: 0 }).length;
  const recording = toneWav({ ...speech, tailSeconds: missingBytes / (192_000 * 2 * 2) });
  if (recording.length !== largestBytes) throw new Error(`the recording has ${recording.length} bytes`);
  return new Blob([new Uint8Array(recording)]);
}

if (import.meta.main) await runBenchmarks([benchMemory]);
