/** WAV files whose samples are those that engines get, 16 kHz mono s16: they are copied, without a decoder. */
import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Decoded } from '../../engines/contract/index.ts';
import { createByteReader } from '../../lib/byte-reader.ts';
import { sampleFormats } from '../../lib/samples.ts';
import { isWav, readWavHeader, WavError } from '../../lib/wav-reader.ts';
import { sampleRate } from '../../lib/wav.ts';
import type { DecodeJob, DecodeOptions } from './job.ts';
import { createWav, decodedOf, writeSamples } from './wav-file.ts';

/** What precedes the samples is looked for in so many bytes; a file with more of it is left to a decoder. */
const headBytes = 65_536;
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
  const { buffer, bytesRead } = await source.read(Buffer.allocUnsafe(headBytes), { position: 0 });
  const head = buffer.subarray(0, bytesRead);
  if (!isWav(head)) return undefined;
  const reader = createByteReader(Readable.from([head]));
  const layout = await readWavHeader(reader).catch((error: unknown) => {
    if (error instanceof WavError) return undefined;
    throw error;
  });
  if (layout?.sampleRate !== sampleRate || layout.channels !== 1 || layout.format !== sampleFormats['pcm-s16']) {
    return undefined;
  }
  const start = head.length - (await reader.peek(head.length)).length;
  // A recording may have been cut off: what is there is taken, as ffmpeg does.
  const bytes = Math.min(layout.bytes, (await source.stat()).size - start);
  return bytes < 2 ? undefined : { start, end: start + bytes - (bytes % 2) };
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
