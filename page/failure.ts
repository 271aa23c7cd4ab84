/** What a user is shown of a failure. Pure. */
import { ParlanceError } from '../src/client/index.ts';

export interface Failure {
  readonly text: string;
  /** A code of the table of errors; undefined for a failure of the page or of the network. */
  readonly code?: string;
  /** Identifies the request in the log of the service. */
  readonly requestId?: string;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof ParlanceError)) return { text: error instanceof Error ? error.message : String(error) };
  return {
    text:
      error.code === 'unreachable'
        ? 'The service does not answer. Is it running, and is the network up?'
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
