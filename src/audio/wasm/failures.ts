import { EngineError } from '../../../engines/contract/index.ts';

/** `why` is read by the caller and completes the sentence; a library's own words belong into `cause`. */
export function undecodable(why: string, cause?: unknown): EngineError {
  return new EngineError('recording-undecodable', `The recording could not be decoded: ${why}.`, { cause });
}

/** True for a failure of the machine rather than of the recording: a disk that is full, a file that is gone. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
