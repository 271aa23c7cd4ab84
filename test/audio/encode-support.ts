/** An encoder of each test's own, with a directory and a disk budget; tones for it to encode. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { speechFormats, type EngineContext, type Pcm, type SpeechFormat } from '../../engines/contract/index.ts';
import { createEncoder } from '../../src/audio/encode/index.ts';
import { DiskBudget, spaceOf } from '../../src/system/disk-budget.ts';
import { findProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import '../support/shared-compile-cache.ts';

export const sampleRate = 22_050;

export let directory: string;
export let encoder: Pick<EngineContext, 'formats' | 'encode'>;
export let disk: DiskBudget;

/** For all tests of the file. */
export function useEncoder(): void {
  beforeEach(async () => {
    directory = await temporaryDirectory();
    disk = new DiskBudget({ bytes: 100_000_000, space: () => spaceOf(directory) });
    encoder = encoderWith(findProgram('ffmpeg'));
  });
}

export const encoderWith = (ffmpeg: string | undefined) =>
  createEncoder({
    ffmpeg,
    temporaryDirectory: async () => {
      const path = await mkdtemp(join(directory, 'speech-'));
      return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
    },
    openAccount: () => disk.open({ limit: 10_000_000 }),
  });

/** A tone of 440 Hz, in chunks of a tenth of a second. */
export async function* tone(seconds: number, rate = sampleRate): AsyncGenerator<Int16Array> {
  for (let start = 0; start < seconds * rate; start += rate / 10) {
    yield Int16Array.from(
      { length: Math.min(rate / 10, seconds * rate - start) },
      (_, index) => 10_000 * Math.sin(((start + index) * 440 * 2 * Math.PI) / rate),
    );
    await Promise.resolve();
  }
}

export const stay = () => new AbortController().signal;
export const encode = (samples: Pcm['samples'], format: SpeechFormat, signal = stay(), rate = sampleRate) =>
  encoder.encode({ sampleRate: rate, samples }, format, { signal });

export async function collect(audio: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/** Formats that ffmpeg encodes. */
export const byFfmpeg: readonly SpeechFormat[] = ['opus', 'flac', 'aac'];
export const formats = speechFormats.filter(
  (format) => !byFfmpeg.includes(format) || findProgram('ffmpeg') !== undefined,
);
