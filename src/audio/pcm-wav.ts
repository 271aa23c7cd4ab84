/** WAV files whose samples are those that engines get, 16 kHz mono s16: they are copied, without a decoder. */
import { open, type FileHandle } from 'node:fs/promises';
import type { Decoded } from '../../engines/contract/index.ts';
import { sampleFormats } from '../../lib/samples.ts';
import { findWavSamples, sampleRate } from '../../lib/wav.ts';
import type { DecodeJob, DecodeOptions } from './job.ts';
import { createWav, decodedOf, writeSamples } from './wav-file.ts';

const pieceBytes = 1_048_576;

/** Whole samples, in bytes from the beginning of the file. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Undefined for a file that needs a decoder, or has no samples. Creates the file `wavPath`, and removes it on failure. */
export async function copyPcmWav(
  { path, wavPath, maxSeconds }: DecodeJob,
  { signal, account }: DecodeOptions,
): Promise<Decoded | undefined> {
  await using source = await open(path);
  const range = await findSamples(source);
  if (range === undefined) return undefined;
  return await createWav(wavPath, async (wav) => {
    const bytes = await writeSamples(readRange(source, range, signal), wav, { maxSeconds, account });
    return decodedOf(bytes, { wavPath, maxSeconds });
  });
}

async function findSamples(source: FileHandle): Promise<Range | undefined> {
  const found = await findWavSamples(source);
  if (found === undefined) return undefined;
  const { layout, start, bytes } = found;
  const isPlain =
    layout.sampleRate === sampleRate && layout.channels === 1 && layout.format === sampleFormats['pcm-s16'];
  return isPlain && bytes >= 2 ? { start, end: start + bytes - (bytes % 2) } : undefined;
}

async function* readRange(source: FileHandle, { start, end }: Range, signal: AbortSignal): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - start));
  for (let position = start; position < end;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(piece, 0, Math.min(piece.length, end - position), position);
    if (bytesRead === 0) return; // nobody else writes to the file; this is no reason to go on forever
    yield piece.subarray(0, bytesRead);
    position += bytesRead;
  }
}
