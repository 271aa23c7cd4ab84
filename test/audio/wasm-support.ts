/** What the tests of the WASM decoders share. */
import { readFile } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { decodeWithWasm } from '../../src/audio/wasm/index.ts';
import { wavHeader } from '../../lib/wav.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import '../support/shared-compile-cache.ts';

export interface Decoded {
  readonly header: Buffer;
  readonly samples: Int16Array;
  readonly durationMs: number;
}

/** To `<path>.decoded.wav`. */
export async function decode(
  path: string,
  container: Container,
  { maxSeconds = 3600, signal = new AbortController().signal } = {},
): Promise<Decoded> {
  const wavPath = `${path}.decoded.wav`;
  const { endMs: durationMs } = await decodeWithWasm({ path, container, wavPath, maxSeconds }, { signal });
  return { ...(await readWav(wavPath)), durationMs };
}

export async function readWav(path: string): Promise<{ header: Buffer; samples: Int16Array }> {
  const bytes = await readFile(path);
  const dataAt = wavHeader(0).length;
  const samples = new Int16Array(Uint8Array.from(bytes.subarray(dataAt)).buffer);
  return { header: bytes.subarray(0, dataAt), samples };
}

export async function surroundings(): Promise<{ directory: string; targetFile: string; targetUrl: string }> {
  return { directory: await temporaryDirectory(), targetFile: '/etc/hostname', targetUrl: 'http://127.0.0.1:9/' };
}

/** Those that the service would hand to a decoder at all. */
export function claimed<Kind extends { container: Container | null }>(
  kinds: Kind[],
): (Kind & { container: Container })[] {
  return kinds.filter((kind): kind is Kind & { container: Container } => kind.container !== null);
}

export async function expectFailure(decoding: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await expect(decoding).rejects.toMatchObject({
    name: 'EngineError',
    code,
    message: expect.stringMatching(message) as string,
  });
}

export function watchThreads(): { started: number; ended: number } {
  const count = { started: 0, ended: 0 };
  const countIt = (worker: Worker): void => {
    count.started++;
    worker.once('exit', () => count.ended++);
  };
  process.on('worker', countIt);
  onTestFinished(() => void process.off('worker', countIt));
  return count;
}
