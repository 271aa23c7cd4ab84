/** Parts of WAV files that the service has written: 16 kHz mono s16, with a header of 44 bytes. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createByteReader } from './byte-reader.ts';
import { sampleFormats } from './samples.ts';
import { readSamples, sampleRate, wavHeader } from './wav.ts';

/** In whole milliseconds. The file may end less than 1 ms before `endMs`. */
export interface WavSlice {
  readonly wavPath: string;
  readonly startMs: number;
  readonly endMs: number;
}

export const samplesPerMs = sampleRate / 1000;
const headerBytes = 44;

/** Where a millisecond begins in the file. */
const placeOf = (ms: number): number => headerBytes + 2 * samplesPerMs * ms;

export const lengthOf = ({ startMs, endMs }: Omit<WavSlice, 'wavPath'>): number => endMs - startMs;

/** Size of a WAV file with this sound alone. */
export const bytesOf = (slice: WavSlice): number => placeOf(lengthOf(slice));

export function readSlice(slice: WavSlice): AsyncGenerator<Int16Array> {
  const bytes = createByteReader(createReadStream(slice.wavPath, { start: placeOf(slice.startMs) }));
  const layout = { sampleRate, channels: 1, format: sampleFormats['pcm-s16'] };
  return readSamples(bytes, { ...layout, bytes: bytesOf(slice) - headerBytes });
}

/** A WAV file with this sound alone: its own if there is nothing else in it, else one that is written to `path`. */
export async function toFile(
  { wavPath, startMs, endMs }: WavSlice,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const { size } = await stat(wavPath);
  if (startMs === 0 && size <= placeOf(endMs)) return { path: wavPath, bytes: size };
  const [start, end] = [placeOf(startMs), Math.min(size, placeOf(endMs))];
  const samples = createReadStream(wavPath, { start, end: end - 1 });
  try {
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    await pipeline(withHeader(samples, end - start), file, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return { path, bytes: headerBytes + end - start };
}

async function* withHeader(samples: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  yield wavHeader(bytes);
  yield* samples;
}
