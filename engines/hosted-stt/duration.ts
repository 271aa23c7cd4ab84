/**
 * How long a recording is by its container, without decoding it. In a thread of its own: a demuxer that reads a
 * stranger's bytes may run for ever or eat memory.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { JobQueue, Recording } from '../contract/index.ts';

/** From when the thread reads: how long it takes to start is the machine's doing, and the call's own deadline holds. */
const deadlineMs = 5_000;
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
/** Longer than anything that fits into a recording: the header lies. */
const longestSeconds = 86_400;

/** `.ts` in the repository, `.js` once it is built. */
const workerUrl = new URL(`./duration-worker${extname(import.meta.url)}`, import.meta.url);

/** Milliseconds, or undefined when it cannot be told. Rejects when the signal has aborted. */
export async function measureDuration(
  { path }: Recording,
  queue: JobQueue,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await queue.run(() => readInThread(path, signal), { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined; // overloaded, or no thread could start: the transcript is worth more than its duration
  }
}

async function readInThread(path: string, signal: AbortSignal): Promise<number | undefined> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, { workerData: { path }, resourceLimits, env: {} });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const giveUp = () => resolve(undefined);
  const leave = () => reject(signal.reason as Error);
  let timer: NodeJS.Timeout | undefined;
  worker.once('message', () => {
    timer = setTimeout(giveUp, deadlineMs);
    worker.once('message', resolve);
  });
  worker.once('error', giveUp).once('exit', giveUp);
  signal.addEventListener('abort', leave, { once: true });
  try {
    const seconds = await promise;
    const isPlausible = typeof seconds === 'number' && seconds > 0 && seconds < longestSeconds;
    return isPlausible ? Math.round(seconds * 1000) : undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    await worker.terminate();
  }
}
