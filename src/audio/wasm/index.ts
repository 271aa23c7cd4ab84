/**
 * Decodes with WASM decoders, without ffmpeg. Untrusted input can make a decoder hang or exhaust memory, so each
 * request runs in a worker thread that has memory limits and can be terminated at any time.
 */
import { rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { EngineError, type Container } from '../../../engines/contract/index.ts';
import { compileCacheEnv } from '../../../lib/compile-cache.ts';
import type { DecodedRecording, DecodeRequest, DecodeOptions } from '../decode-request.ts';
import { undecodable } from '../failures.ts';
import type { SpaceRequest, ThreadResult, ThreadWork } from './decoder-thread.ts';

const deadlineMs = 120_000;

/**
 * Limits of the JavaScript heap; samples and decoder memory are outside the heap and stay small because blocks are
 * small.
 */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** The extension is `.ts` in the repository and `.js` in the build. */
const workerUrl = new URL(`./decoder-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Decodes a recording to a new 16 kHz mono s16 WAV file at `wavPath`. Removes the file on failure.
 *
 * Rejects with an `EngineError` or the signal's reason, after the thread has ended.
 */
export async function decodeWithWasm(request: DecodeRequest, options: DecodeOptions): Promise<DecodedRecording> {
  try {
    return await runThread<DecodedRecording>({ task: 'decode', ...request }, options);
  } catch (error) {
    await rm(request.wavPath, { force: true });
    throw error;
  }
}

/**
 * Returns the number of recordings in a file, which is 1 unless recordings were joined. Throws `recording-undecodable`
 * if the file is damaged before its end.
 */
export async function countSections(
  { path, container }: Pick<DecodeRequest, 'path' | 'container'>,
  options: DecodeOptions,
): Promise<number> {
  if (container === 'mp3') return 1;
  return runThread<number>({ task: 'count', path, container }, options);
}

/** Returns seconds. Rejects with an `EngineError` if the file is damaged. */
export async function readStatedSeconds(
  { path, container }: Pick<DecodeRequest, 'path'> & { readonly container: Exclude<Container, 'wav'> },
  options: DecodeOptions,
): Promise<number | undefined> {
  return runThread<number | undefined>({ task: 'length', path, container }, options);
}

async function runThread<T>(workerData: ThreadWork, options: DecodeOptions): Promise<T> {
  options.signal.throwIfAborted();
  const worker = new Worker(workerUrl, { workerData, resourceLimits, env: compileCacheEnv() });
  return unwrap(await awaitResult<T>(worker, options).finally(() => worker.terminate()));
}

function awaitResult<T>(
  worker: Worker,
  { signal, account, deadlineFactor = 1 }: DecodeOptions,
): Promise<ThreadResult<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadResult<T>>();
  const fail = (cause?: unknown): void => reject(undecodable('the decoder crashed', cause));
  const abort = (): void => reject(signal.reason);
  const deadline = setTimeout(() => {
    reject(new EngineError('engine-timeout', 'Decoding the recording timed out.'));
  }, deadlineMs * deadlineFactor);
  const onMessage = (message: ThreadResult<T> | SpaceRequest): void => {
    if (!('needs' in message)) return resolve(message);
    try {
      account?.take(message.needs);
      worker.postMessage('granted');
    } catch (error) {
      reject(error);
    }
  };
  worker.on('message', onMessage).once('error', fail).once('exit', fail);
  signal.addEventListener('abort', abort);
  return promise.finally(() => {
    clearTimeout(deadline);
    signal.removeEventListener('abort', abort);
  });
}

function unwrap<T>(result: ThreadResult<T>): T {
  if ('value' in result) return result.value;
  throw new EngineError(result.code, result.message, { cause: new Error(result.cause) });
}
