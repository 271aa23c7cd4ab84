/** Parts of WAV files that the service has written: 16 kHz mono s16, with a header of 44 bytes. */
import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
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
  const [start, end] = [placeOf(startMs), Math.min(size, placeOf(endMs))] as const;
  async function* contents(): AsyncGenerator<Uint8Array> {
    yield wavHeader(end - start);
    for await (const chunk of createReadStream(wavPath, { start, end: end - 1 }) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
  await writeFile(path, contents(), { flag: 'wx', mode: 0o600 });
  return { path, bytes: headerBytes + end - start };
}
