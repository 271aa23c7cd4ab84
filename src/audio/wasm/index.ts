/**
 * Decodes without ffmpeg: in a thread of its own, with WASM decoders. Decoders of strangers' bytes may run for ever or
 * eat memory; a thread can be limited, and ended at any moment.
 */
import { rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { EngineError } from '../../../engines/contract/index.ts';
import type { DecodeJob, DecodeOptions } from '../job.ts';
import { undecodable } from './failures.ts';
import type { Answer, Request } from './worker.ts';

const deadlineMs = 120_000;

/** Of the JavaScript heap; samples and the decoders' own memory lie outside of it and are bounded by small blocks. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** `.ts` in the repository, `.js` once it is built. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Decodes a recording to 16 kHz mono s16 in a WAV file at `wavPath`, which must not exist before; after a failure it
 * does not exist either. `durationMs` is that of the decoded samples, to the nearest millisecond.
 *
 * Rejects with an `EngineError`, or with the signal's reason; the thread has ended by then.
 */
export async function decodeWithWasm(
  job: DecodeJob,
  { signal, account }: DecodeOptions,
): Promise<{ durationMs: number }> {
  signal.throwIfAborted();
  const worker = new Worker(workerUrl, { workerData: job, resourceLimits, env: {} });
  try {
    return resultOf(await answerOf(worker, { signal, account }).finally(() => worker.terminate()));
  } catch (error) {
    await rm(job.wavPath, { force: true });
    throw error;
  }
}

function answerOf(worker: Worker, { signal, account }: DecodeOptions): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const fail = (cause?: unknown): void => reject(undecodable('the decoder failed on it', cause));
  const abort = (): void => reject(signal.reason);
  const deadline = setTimeout(() => {
    reject(new EngineError('engine-timeout', 'The recording took too long to decode.'));
  }, deadlineMs);
  const onMessage = (message: Answer | Request): void => {
    if (!('needs' in message)) return resolve(message);
    try {
      account?.take(message.needs);
      worker.postMessage('go on');
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

function resultOf(answer: Answer): { durationMs: number } {
  if ('durationMs' in answer) return answer;
  throw new EngineError(answer.code, answer.message, { cause: new Error(answer.cause) });
}
