/** The thread that decodes one recording, says how that ended, and ends. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { EngineError, type Container, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { isAtMachineLimit } from '../../../lib/resource-limits.ts';
import type { DecodeJob } from '../job.ts';
import { isSystemError, undecodable } from './failures.ts';
import { transcode } from './transcode.ts';

/** An error loses its class on the way between threads, so a failure travels as plain data. */
export type Answer =
  | { readonly durationMs: number }
  | { readonly code: EngineErrorCode; readonly message: string; readonly cause: string };

/** Bytes that it is about to write. It goes on at the first message; where they are refused, it is terminated. */
export interface Request {
  readonly needs: number;
}

/** The decoders write to the console what they could not decode. */
let complaint = '';
console.error = console.warn = (...words: unknown[]) => {
  complaint = words.join(' ');
};

const job = workerData as DecodeJob;
parentPort?.postMessage(await transcode(job, take).catch((error: unknown) => toAnswer(error, job.container)));

async function take(bytes: number): Promise<void> {
  if (!parentPort) return;
  parentPort.postMessage({ needs: bytes } satisfies Request);
  await once(parentPort, 'message');
}

function toAnswer(error: unknown, container: Container): Answer {
  const { code, message, cause } = toEngineError(error, container);
  return { code, message, cause: describe(cause ?? complaint) };
}

function toEngineError(error: unknown, container: Container): EngineError {
  if (EngineError.is(error)) return error;
  if (isAtMachineLimit(error)) {
    return new EngineError('overloaded', 'The service cannot decode another recording now; try again later.', {
      cause: error,
    });
  }
  if (!isSystemError(error)) return undecodable(`the ${container} file is damaged`, error);
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new EngineError('storage-full', 'The server has no room left to decode the recording.', { cause: error });
  }
  return new EngineError('engine-failed', 'The recording could not be read or its sound not be stored.', {
    cause: error,
  });
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
