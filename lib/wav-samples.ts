/** Where the samples of a WAV file are. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createByteReader } from './byte-reader.ts';
import { isWav, readWavHeader, WavError, type WavLayout } from './wav-reader.ts';

/** The header is looked for in so many bytes. */
const headBytes = 65_536;

/** Undefined if the file is no WAV, has another encoding, or more before its samples. `bytes` is what the file has. */
export async function findWavSamples(
  file: FileHandle,
): Promise<{ readonly layout: WavLayout; readonly start: number; readonly bytes: number } | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(headBytes), { position: 0 });
  const head = buffer.subarray(0, bytesRead);
  if (!isWav(head)) return undefined;
  const reader = createByteReader(Readable.from([head]));
  try {
    const layout = await readWavHeader(reader);
    const start = head.length - (await reader.peek(head.length)).length;
    // A recording may have been cut off: what is there is taken, as ffmpeg does.
    return { layout, start, bytes: Math.min(layout.bytes, (await file.stat()).size - start) };
  } catch (error) {
    if (error instanceof WavError) return undefined;
    throw error;
  }
}
