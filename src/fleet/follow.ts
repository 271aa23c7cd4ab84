/** Reads a worker's messages about a call: progress for the caller, and the result. */
import { EngineError, type TimedText, type TranscriptionOptions } from '../../engines/contract/index.ts';
import { onAbort } from '../../lib/abort.ts';
import type { CallFailure, LastMessage, WorkerConnection } from './call-protocol.ts';

export interface Listeners extends Pick<TranscriptionOptions, 'onSegment' | 'onProgress'> {
  readonly onQueued: (ahead: number | null) => void;
  /** Called when a worker takes the call, which may be a further attempt. */
  readonly begin: () => void;
}

/**
 * Resolves with the last message of the worker; undefined if the worker is lost before sending it. An abort closes the
 * connection.
 */
export async function readToLast(
  { messages, end, cut }: WorkerConnection,
  { onQueued, onProgress, onSegment }: Listeners,
  signal: AbortSignal,
): Promise<LastMessage | undefined> {
  const off = onAbort(signal, cut);
  try {
    for await (const message of messages) {
      switch (message.type) {
        case 'queued':
          onQueued(message.ahead);
          break;
        case 'progress':
          onProgress?.(message.processedMs, message.durationMs);
          break;
        case 'segment':
          onSegment?.(message.segment);
          break;
        case 'result':
        case 'failed':
        case 'returned':
          end();
          return message;
        default: // a heartbeat, or a message of a later version
      }
    }
    cut();
    return undefined;
  } catch (error) {
    cut(); // the caller's own listener failed
    throw error;
  } finally {
    off();
  }
}

/** Code and message are not validated here, but by the guard of the engine. */
export function errorOf({ code, message, retryAfter }: CallFailure): EngineError {
  return new EngineError(code, message, retryAfter === undefined ? {} : { retryAfter });
}

/** Drops segments that the caller already has, because each attempt starts at the beginning of the recording. */
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
