/** Reads a worker's messages about a call: reports for the caller, and the outcome. */
import {
  EngineError,
  type TimedText,
  type Transcript,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { onAbort } from '../../lib/abort.ts';
import type { Failure, WorkerConnection, WorkerMessage } from './call-protocol.ts';

export type Outcome =
  | { readonly is: 'result'; readonly transcript: Transcript }
  | { readonly is: 'failed'; readonly error: EngineError }
  | { readonly is: 'returned'; readonly error: EngineError; readonly worker: string | undefined }
  /** The worker is gone. */
  | { readonly is: 'lost' };

export interface Listeners extends Pick<TranscriptionOptions, 'onSegment' | 'onProgress'> {
  readonly onQueued: (ahead: number | null) => void;
  /** A worker begins, perhaps not the first. */
  readonly begin: () => void;
}

/** Reads what the worker sends until the call is decided or the connection is closed. An abort closes it. */
export async function readOutcome(
  connection: WorkerConnection,
  listeners: Listeners,
  signal: AbortSignal,
): Promise<Outcome> {
  const off = onAbort(signal, connection.cut);
  try {
    for await (const message of connection.messages) {
      const outcome = read(message, listeners);
      if (outcome === undefined) continue;
      connection.end();
      return outcome;
    }
    connection.cut();
    return { is: 'lost' };
  } catch (error) {
    connection.cut(); // the caller's own listener failed
    throw error;
  } finally {
    off();
  }
}

function read(message: WorkerMessage, { onSegment, onProgress, onQueued }: Listeners): Outcome | undefined {
  switch (message.type) {
    case 'queued':
      onQueued(message.ahead);
      return undefined;
    case 'progress':
      onProgress?.(message.processedMs, message.durationMs);
      return undefined;
    case 'segment':
      onSegment?.(message.segment);
      return undefined;
    case 'result':
      return { is: 'result', transcript: message.transcript };
    case 'failed':
      return { is: 'failed', error: errorOf(message) };
    case 'returned':
      return { is: 'returned', error: errorOf(message), worker: message.worker };
    default:
      return undefined; // a sign of life, or from a later version
  }
}

/** The guard of the engine validates code and message. */
function errorOf({ code, message, retryAfter }: Failure): EngineError {
  return new EngineError(code, message, retryAfter === undefined ? {} : { retryAfter });
}

/** A later worker begins at the start of the recording: segments that the caller has are not repeated. */
export function forSeveralAttempts({ onSegment, onProgress, onQueued }: TranscriptionOptions): Listeners {
  let passedMs = 0;
  let endMs = 0;
  let position: number | null = null;
  function queued(ahead: number | null): void {
    if (ahead === position) return;
    position = ahead;
    onQueued?.(ahead);
  }
  return {
    onQueued: queued,
    begin() {
      passedMs = endMs;
      queued(null);
    },
    ...(onProgress && { onProgress }),
    ...(onSegment && {
      onSegment(segment: TimedText) {
        if (segment.startMs < passedMs) return;
        onSegment(segment);
        endMs = Math.max(endMs, segment.endMs);
      },
    }),
  };
}
