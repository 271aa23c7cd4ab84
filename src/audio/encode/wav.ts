/** Encodes wav. The header contains the length, so the audio is collected in a file and sent when complete. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pcm, TemporaryDirectory } from '../../../engines/contract/index.ts';
import type { DiskAccount } from '../../system/disk-budget.ts';
import { wavHeader } from '../../../lib/wav.ts';
import { wavMark } from './synthetic-mark.ts';

export interface WavOptions {
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** Opens the disk account for one synthesis. */
  readonly openAccount: () => DiskAccount;
  readonly signal: AbortSignal;
}

const chunkBytes = 262_144;

/** An hour of speech is 160 MB, so the audio is never held in memory as a whole. */
export async function* encodeWav(
  { sampleRate, samples }: Pcm,
  { temporaryDirectory, openAccount, signal }: WavOptions,
): AsyncGenerator<Uint8Array> {
  using account = openAccount();
  await using file = await openUnlinked(temporaryDirectory);
  let dataBytes = 0;
  await file.writeFile(wavHeader(0));
  for await (const chunk of batched(samples)) {
    account.take(chunk.length);
    await file.writeFile(chunk);
    dataBytes += chunk.length;
  }
  // Programs interpret a length of zero as unknown, and would play the mark as audio.
  const trailer = dataBytes > 0 ? wavMark : Buffer.alloc(0);
  await file.writeFile(trailer);
  await file.write(wavHeader(dataBytes, sampleRate, trailer.length), 0, undefined, 0);
  yield* readFromStart(file, signal);
}

/**
 * Combines chunks into batches: programs write a few kilobytes at a time, and writing them one by one costs a thousand
 * times as much as one large write. A batch is valid only until the next one is requested, because allocating new
 * memory for each batch would trigger a garbage collection every few megabytes.
 */
async function* batched(samples: Pcm['samples']): AsyncGenerator<Uint8Array> {
  const batch = new Uint8Array(chunkBytes);
  let filled = 0;
  for await (const { buffer, byteOffset, byteLength } of samples) {
    for (let taken = 0; taken < byteLength;) {
      const part = new Uint8Array(buffer, byteOffset + taken, Math.min(byteLength - taken, chunkBytes - filled));
      batch.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < chunkBytes) continue;
      yield batch;
      filled = 0;
    }
  }
  yield batch.subarray(0, filled);
}

/** Unlinks the file right after opening, so that the file cannot leak. */
async function openUnlinked(temporaryDirectory: () => Promise<TemporaryDirectory>): Promise<FileHandle> {
  await using directory = await temporaryDirectory();
  return await open(join(directory.path, 'speech.wav'), 'wx+', 0o600);
}

async function* readFromStart(file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), { position });
    signal.throwIfAborted();
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
