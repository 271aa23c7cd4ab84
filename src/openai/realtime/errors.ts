/** The errors of a session, in the shape that error events use. */
import { EngineError } from '../../../engines/contract/index.ts';
import { problemAnswer, ProblemError } from '../../contract/problems.ts';
import { toErrorResponse } from '../errors.ts';
import type { Schemas } from '../operations.ts';

export type ErrorDetails = Omit<Schemas['RealtimeErrorDetails'], 'event_id'>;

function refusal(code: string, message: string, param: string | null = null): ErrorDetails {
  return { type: 'invalid_request_error', code, message, param };
}

/** Thrown for a client event that has no effect. */
export class Refused extends Error {
  readonly details: ErrorDetails;

  constructor(code: string, message: string, param: string | null = null) {
    super(message);
    this.details = refusal(code, message, param);
  }
}

/** Whether an error is the client's, or that of a model that cannot be used; not a bug of the service. */
export const isExpected = (error: unknown): boolean =>
  error instanceof Refused || error instanceof ProblemError || EngineError.is(error);

const fields = new WeakMap<Error, string>();

/** Runs `work`. `failure` names the field, a JSON Pointer, as the `param` of an error that it throws. */
export function forField<T>(pointer: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (pointer !== undefined && error instanceof Error) fields.set(error, pointer.slice(1).replaceAll('/', '.'));
    throw error;
  }
}

/** Returns the error details for any thrown value, based on the API's error table. */
export function failure(error: unknown): ErrorDetails {
  if (error instanceof Refused) return error.details;
  const { type, code, message, param } = toErrorResponse(problemAnswer(error, ''), error).error;
  const field = error instanceof Error ? fields.get(error) : undefined;
  // The code for an invalid field is that of the checks against the contract.
  return { type, code: code === 'invalid_request' ? 'invalid_value' : (code ?? type), message, param: field ?? param };
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
