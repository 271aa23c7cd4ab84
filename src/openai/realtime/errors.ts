/** The errors of a session, in the shape that error events use. */
import { problemAnswer } from '../../contract/problems.ts';
import { toErrorResponse } from '../errors.ts';
import type { Schemas } from '../operations.ts';

export type ErrorDetails = Omit<Schemas['RealtimeErrorDetails'], 'event_id'>;

/** Returns the error for a client event that had no effect. */
export function refusal(code: string, message: string, param: string | null = null): ErrorDetails {
  return { type: 'invalid_request_error', code, message, param };
}

/** Returns the error details for any thrown value, based on the API's error table. */
export function failure(error: unknown): ErrorDetails {
  const { type, code, message, param } = toErrorResponse(problemAnswer(error, ''), error).error;
  return { type, code: code ?? type, message, param };
}

export const commitEmpty = refusal(
  'input_audio_buffer_commit_empty',
  'Nothing to commit: the buffer has less than 100 ms of audio, or turn detection has no open turn.',
);

export const bufferFull = refusal(
  'input_audio_buffer_full',
  'The buffer has 10 minutes of audio without a commit. Audio is dropped until the next commit or clear.',
);

export const sessionExpired: ErrorDetails = refusal('session_expired', 'The session has lasted 60 minutes.');
