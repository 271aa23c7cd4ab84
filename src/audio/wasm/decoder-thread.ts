/**
 * Worker thread that decodes one recording, counts the recordings in a file or reads its length, posts the result and
 * exits.
 */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { EngineError, type Container, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { DamagedRecording } from '../../../lib/recording/damage.ts';
import { isAtMachineLimit, isDiskFull } from '../../../lib/resource-limits.ts';
import { nameOf } from '../container-name.ts';
import type { DecodedRecording, DecodeRequest } from '../decode-request.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { sectionsOf } from '../sections.ts';
import { statedSeconds } from './stated-length.ts';
import { transcode } from './transcode.ts';

/** Errors lose their class when sent between threads, so failures are sent as plain data. */
export type ThreadResult<T> =
  { readonly value: T } | { readonly code: EngineErrorCode; readonly message: string; readonly cause: string };

/**
 * The task of the thread. The result is a `DecodedRecording`, the number of recordings, or the length in seconds if the
 * file states it, respectively.
 */
export type ThreadWork =
  | ({ readonly task: 'decode' } & DecodeRequest)
  | { readonly task: 'count'; readonly path: string; readonly container: Exclude<Container, 'mp3'> }
  | { readonly task: 'length'; readonly path: string; readonly container: Exclude<Container, 'wav'> };

/** Requests disk space before writing. The next message grants the space; if it is denied, the thread is terminated. */
export interface SpaceRequest {
  readonly needs: number;
}

/** Some decoders report errors only on the console. */
let lastConsoleMessage = '';
console.error = console.warn = (...words: unknown[]) => {
  lastConsoleMessage = words.join(' ');
};

const work = workerData as ThreadWork;
try {
  parentPort?.postMessage({ value: await resultOf(work) });
} catch (error) {
  parentPort?.postMessage(toFailure(error, work));
}

async function resultOf(work: ThreadWork): Promise<DecodedRecording | number | undefined> {
  if (work.task === 'decode') return transcode(work, take);
  if (work.task === 'length') return statedSeconds(work.path, work.container);
  return sectionsOf(work.path, work.container).length;
}

async function take(bytes: number): Promise<void> {
  if (!parentPort) return;
  parentPort.postMessage({ needs: bytes } satisfies SpaceRequest);
  await once(parentPort, 'message');
}

function toFailure(error: unknown, file: Pick<ThreadWork, 'path' | 'container'>): ThreadResult<never> {
  const { code, message, cause } = toEngineError(error, file);
  return { code, message, cause: causeOf(cause ?? lastConsoleMessage) };
}

function toEngineError(error: unknown, { path, container }: Pick<ThreadWork, 'path' | 'container'>): EngineError {
  if (EngineError.is(error)) return error;
  if (error instanceof DamagedRecording) return undecodable(error.message, error);
  if (isAtMachineLimit(error)) {
    return new EngineError('overloaded', 'The service has no resources to decode another recording; try again later.', {
      cause: error,
    });
  }
  if (!isSystemError(error)) return undecodable(`the ${nameOf(path, container)} file is damaged`, error);
  if (isDiskFull(error)) {
    return new EngineError('storage-full', 'The disk is full: the recording cannot be decoded; try again later.', {
      cause: error,
    });
  }
  return new EngineError('engine-failed', 'The recording could not be read, or the decoded audio not be written.', {
    cause: error,
  });
}

function causeOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
