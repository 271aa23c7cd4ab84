/**
 * The connection is the request that a worker keeps open while it works on a call. Opening it takes the call; closing
 * it at either end aborts the work. Both ends send messages as JSON lines.
 */
import type { Readable } from 'node:stream';
import type { EngineErrorCode, TimedText, Transcript, TranscriptionCall } from '../../engines/contract/index.ts';
import { parseObject } from '../../lib/json.ts';
import { LineSplitter } from '../../lib/json-lines.ts';
import type { RequestScope } from '../request-scope.ts';
import type { FleetTimeouts } from './timeouts.ts';

/** Chunk size for reading and writing recordings, in bytes. Large chunks need fewer trips to the thread pool. */
export const recordingChunk = 262_144;

/** A call without its recording, which the worker fetches from `<address of the call>/recording`. */
export interface CallDocument {
  readonly instance: string;
  readonly call: Omit<TranscriptionCall, 'recording'>;
  readonly recording: Omit<TranscriptionCall['recording'], 'path'>;
  /** Scope of the request. The worker uses it for its log, fair shares of its disk and loop detection. */
  readonly scope: Pick<RequestScope, 'id' | 'trace' | 'caller' | 'via'>;
  /** Whether the front forwards segments to the caller. Engines may work differently if it does. */
  readonly segments: boolean;
}

/** A message from the front: first the call, then heartbeats. */
export type FrontMessage = { readonly type: 'alive' } | { readonly type: 'call'; readonly call: CallDocument };

/** A message from the worker. */
export type WorkerMessage =
  | LastMessage
  | { readonly type: 'alive' }
  /** Position in the engine's own queue, which is separate from the fleet's; null: the call has started. */
  | { readonly type: 'queued'; readonly ahead: number | null }
  | { readonly type: 'progress'; readonly processedMs: number; readonly durationMs?: number | undefined }
  | { readonly type: 'segment'; readonly segment: TimedText };

/** A worker's last message about a call. */
export type LastMessage =
  | { readonly type: 'result'; readonly transcript: Transcript; readonly gapMs?: number | undefined }
  | ({ readonly type: 'failed' } & CallFailure)
  /**
   * This worker cannot run the call, for example because it is stopping, its disk is full or it does not have the
   * model; another one may.
   */
  | Returned;

export interface Returned extends CallFailure {
  readonly type: 'returned';
  /** Id of the worker; absent when the worker is stopping. */
  readonly worker?: string | undefined;
}

export interface CallFailure {
  readonly code: EngineErrorCode;
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

/** A front's side of the connection to a worker that has taken a call. */
export interface WorkerConnection {
  readonly messages: AsyncIterable<WorkerMessage>;
  /** Closes the connection after the last message. */
  readonly end: () => void;
  /** Closes the connection immediately, which aborts the work. */
  readonly cut: () => void;
}

/** Maximum size of a message in bytes. The result of ten hours of speech with word timestamps takes 10 million. */
const maxMessageBytes = 67_108_864;

/** Ends when the stream ends or breaks, and at the first invalid message. `received` is called for each chunk. */
export async function* messagesOf<M extends { readonly type: string }>(
  stream: Readable,
  received: () => void,
): AsyncGenerator<M, void, undefined> {
  const lines = new LineSplitter(maxMessageBytes, 'throw');
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      received();
      for (const line of lines.push(chunk as Buffer)) {
        const message = parseObject(line);
        if (typeof message?.type !== 'string') return;
        yield message as unknown as M;
      }
    }
  } catch {
    // A broken connection or an oversized message ends the stream of messages.
  }
}

/**
 * Sends heartbeats, and calls `dead` once when the other end stays silent. Silence is counted in ticks, not in elapsed
 * time: after a blocked event loop, a late tick counts once, and heartbeats that arrived meanwhile are read before the
 * next.
 */
export function startPulse(
  { heartbeatMs, silenceMs }: Pick<FleetTimeouts, 'heartbeatMs' | 'silenceMs'>,
  send: () => void,
  dead: () => void,
) {
  const silentTicks = Math.ceil((2 * silenceMs) / heartbeatMs);
  let ticks = 0;
  let silent = 0;
  const timer = setInterval(() => {
    ticks += 1;
    silent += 1;
    if (silent === silentTicks) dead();
    else if (ticks % 2 === 0) send();
  }, heartbeatMs / 2);
  return {
    /** Call this for anything received from the other end. */
    received: () => void (silent = 0),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
