/** Failures as the page shows them. Pure. */
import { ParlanceError } from '../src/client/index.ts';

export interface Failure {
  readonly text: string;
  /** An error code of the service; undefined for a failure of the page. */
  readonly code?: string;
  /** Identifies the request in the log of the service. */
  readonly requestId?: string;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof ParlanceError)) return { text: error instanceof Error ? error.message : String(error) };
  return {
    text:
      error.code === 'unreachable'
        ? 'The service is not responding. Check that it is running and that the network is up.'
        : error.detail,
    code: error.code,
    ...(error.requestId !== undefined && { requestId: error.requestId }),
  };
}

export const isKeyRefused = (error: unknown): boolean => error instanceof ParlanceError && error.status === 401;

/** The key is valid, but not for this operation. */
export const isNotAllowed = (error: unknown): error is ParlanceError =>
  error instanceof ParlanceError && error.code === 'operation-not-allowed';

/** The service refuses the recording itself, and would refuse it again. */
export const isRecordingRefused = (error: unknown): boolean =>
  error instanceof ParlanceError && (error.code.startsWith('recording-') || error.code === 'body-too-large');
