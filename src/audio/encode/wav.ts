/** wav: its header says the length, so it is collected in a file and comes when it is whole. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pcm, TemporaryDirectory } from '../../../engines/contract/index.ts';
import type { DiskAccount } from '../../system/disk-budget.ts';
import { wavHeader } from '../../../lib/wav.ts';

export interface WavOptions {
  readonly temporaryDirectory: () => Promise<TemporaryDirectory>;
  /** For the bytes of one speech. */
  readonly openAccount: () => DiskAccount;
  readonly signal: AbortSignal;
}

const chunkBytes = 262_144;

/** An hour of speech is 160 MB: it never lies in memory as a whole. */
export async function* encodeWav(
  { sampleRate, samples }: Pcm,
  { temporaryDirectory, openAccount, signal }: WavOptions,
): AsyncGenerator<Uint8Array> {
  using account = openAccount();
  await using file = await openNameless(temporaryDirectory);
  let dataBytes = 0;
  await file.writeFile(wavHeader(0, sampleRate));
  for await (const chunk of gathered(samples)) {
    account.take(chunk.length);
    await file.writeFile(chunk);
    dataBytes += chunk.length;
  }
  await file.write(wavHeader(dataBytes, sampleRate), 0, undefined, 0);
  yield* readFromStart(file, signal);
}

/** Programs write a few kilobytes at a time; to a file that is a thousand times the work of one write. */
async function* gathered(samples: Pcm['samples']): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const { buffer, byteOffset, byteLength } of samples) {
    waiting.push(new Uint8Array(buffer, byteOffset, byteLength));
    bytes += byteLength;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  yield Buffer.concat(waiting);
}

/** Its name goes at once, so that nothing of it stays behind, whatever happens. */
async function openNameless(temporaryDirectory: () => Promise<TemporaryDirectory>): Promise<FileHandle> {
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
