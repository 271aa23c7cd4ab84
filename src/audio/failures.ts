import { EngineError } from '../../engines/contract/index.ts';

/** `why` is shown to the client and completes the sentence; messages of libraries belong in `cause`. */
export function undecodable(why: string, cause?: unknown): EngineError {
  return new EngineError('recording-undecodable', `The recording could not be decoded: ${why}.`, { cause });
}

/** The file holds several recordings, of which ffmpeg does not read all. */
export class JoinedRecording extends Error {
  override readonly name = 'JoinedRecording';
}

/** True for errors of the machine instead of the recording: disk full, file missing. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
