/** Failures as the page shows them. */
import { ParlanceError } from '../src/client/index.ts';

export interface Failure {
  readonly text: string;
  /** An error code of the service; undefined for a failure of the page. */
  readonly code?: string;
  /** Identifies the request in the log of the service. */
  readonly requestId?: string;
}

/** Logs errors that are not for users: a TypeError is a bug in the page. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ParlanceError)) {
    if (isForUsers(error)) return { text: error.message };
    console.error(error);
    return { text: 'This page has failed. Reload it and try again.' };
  }
  return {
    text:
      error.code === 'unreachable'
        ? 'The service is not responding. Check that it is running and that the network is up.'
        : error.detail,
    code: error.code,
    ...(error.requestId !== undefined && { requestId: error.requestId }),
  };
}

/** Errors of the page have the name Error; errors of the microphone are DOMExceptions. */
const isForUsers = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'Error' || error instanceof DOMException) && error.message !== '';

export const isKeyRefused = (error: unknown): boolean => error instanceof ParlanceError && error.status === 401;

/** True if the key is valid, but not for this operation. */
export const isNotAllowed = (error: unknown): error is ParlanceError =>
  error instanceof ParlanceError && error.code === 'operation-not-allowed';

/** True if the service refuses the recording itself, and would refuse it again. */
export const isRecordingRefused = (error: unknown): boolean =>
  error instanceof ParlanceError && (error.code.startsWith('recording-') || error.code === 'body-too-large');
