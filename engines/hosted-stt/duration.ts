/**
 * Measures the duration of a recording from its container, without decoding it. Runs in a worker thread with limits,
 * because a demuxer may loop forever or exhaust memory on untrusted input.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CallQueue, Recording } from '../contract/index.ts';
import type { MeasuredFile } from './duration-worker.ts';
import { compileCacheEnv } from '../../lib/compile-cache.ts';
import { raceAbort } from '../../lib/abort.ts';

/**
 * Counted from the first read, because the time to start a thread depends on the load. The call has its own timeout.
 */
const timeoutMs = 5_000;
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/** `.ts` in the repository, `.js` in the built package. */
const workerUrl = new URL(`./duration-worker${extname(import.meta.url)}`, import.meta.url);

/** Resolves with milliseconds, or undefined if unknown. Rejects if the signal has aborted. */
export async function measureDuration(
  { path, container }: Recording,
  queue: CallQueue,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await queue.run(() => readInThread({ path, container }, signal), { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined; // the machine is overloaded, or no thread could start: return the transcript without a duration
  }
}

async function readInThread(workerData: MeasuredFile, signal: AbortSignal): Promise<number | undefined> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, { workerData, resourceLimits, env: compileCacheEnv() });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const giveUp = () => resolve(undefined);
  let timer: NodeJS.Timeout | undefined;
  worker.once('message', () => {
    timer = setTimeout(giveUp, timeoutMs);
    worker.once('message', resolve);
  });
  worker.once('error', giveUp).once('exit', giveUp);
  try {
    const seconds = await raceAbort(promise, signal);
    return typeof seconds === 'number' && seconds > 0 ? Math.round(seconds * 1000) : undefined;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
