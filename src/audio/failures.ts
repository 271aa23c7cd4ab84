import { EngineError } from '../../engines/contract/index.ts';

/** `why` completes a sentence that the client sees. Put messages from libraries into `cause`. */
export function undecodable(why: string, cause?: unknown): EngineError {
  return new EngineError('recording-undecodable', `The recording could not be decoded: ${why}.`, { cause });
}

/** The file contains several recordings, and ffmpeg does not read all of them. */
export class JoinedRecording extends Error {
  override readonly name = 'JoinedRecording';
}

/** True for errors caused by the machine rather than the recording, such as a full disk or a missing file. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
