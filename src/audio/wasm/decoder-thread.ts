/** Worker thread that decodes one recording, posts the result and exits. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { EngineError, type Container, type Decoded, type EngineErrorCode } from '../../../engines/contract/index.ts';
import { isAtMachineLimit, isDiskFull } from '../../../lib/resource-limits.ts';
import type { DecodeRequest } from '../decode-request.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { transcode } from './transcode.ts';

/** Errors lose their class between threads, so a failure is sent as plain data. */
export type DecodeResult =
  Decoded | { readonly code: EngineErrorCode; readonly message: string; readonly cause: string };

/** Requests disk space before writing. The next message grants it; if it is denied, the worker is terminated. */
export interface SpaceRequest {
  readonly needs: number;
}

/** Decoders report decoding errors on the console. */
let lastConsoleMessage = '';
console.error = console.warn = (...words: unknown[]) => {
  lastConsoleMessage = words.join(' ');
};

const request = workerData as DecodeRequest;
parentPort?.postMessage(await transcode(request, take).catch((error: unknown) => toResult(error, request.container)));

async function take(bytes: number): Promise<void> {
  if (!parentPort) return;
  parentPort.postMessage({ needs: bytes } satisfies SpaceRequest);
  await once(parentPort, 'message');
}

function toResult(error: unknown, container: Container): DecodeResult {
  const { code, message, cause } = toEngineError(error, container);
  return { code, message, cause: describe(cause ?? lastConsoleMessage) };
}

function toEngineError(error: unknown, container: Container): EngineError {
  if (EngineError.is(error)) return error;
  if (isAtMachineLimit(error)) {
    return new EngineError('overloaded', 'The service has no resources to decode another recording; try again later.', {
      cause: error,
    });
  }
  if (!isSystemError(error)) return undecodable(`the ${container} file is damaged`, error);
  if (isDiskFull(error)) {
    return new EngineError('storage-full', 'The disk is full: the recording cannot be decoded; try again later.', {
      cause: error,
    });
  }
  return new EngineError('engine-failed', 'The recording could not be read, or the decoded audio not be written.', {
    cause: error,
  });
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
