/**
 * The connection: the request that a worker keeps open while it works on a call. Opening it takes the call; when it closes,
 * at either end, the work ends. Both ends send messages, one JSON object a line.
 */
import type { Readable } from 'node:stream';
import type { EngineErrorCode, TimedText, Transcript, TranscriptionCall } from '../../engines/contract/index.ts';
import { parseObject } from '../../lib/json.ts';
import { LineSplitter } from '../../lib/line-splitter.ts';
import type { RequestScope } from '../request-scope.ts';
import type { FleetTimeouts } from './timeouts.ts';

/** Bytes of a recording that are read or written at once: fewer turns of the file system's threads. */
export const recordingChunk = 262_144;

/** Everything but the recording, which is at `<address of the call>/recording`. */
export interface CallDocument {
  readonly instance: string;
  readonly call: Omit<TranscriptionCall, 'recording'>;
  readonly recording: Omit<TranscriptionCall['recording'], 'path'>;
  /** Scope of the request: for the worker's log, fair shares of its disk, and loop detection. */
  readonly scope: Pick<RequestScope, 'id' | 'trace' | 'caller' | 'via'>;
  /** Whether the front passes segments on: engines may work differently for them. */
  readonly segments: boolean;
}

/** From the front: first the call, then signs of life. */
export type FrontMessage = { readonly type: 'alive' } | { readonly type: 'call'; readonly call: CallDocument };

/** From the worker. */
export type WorkerMessage =
  | LastMessage
  | { readonly type: 'alive' }
  /** The engine has a queue of its own, beside that of the fleet; null: its turn has come. */
  | { readonly type: 'queued'; readonly ahead: number | null }
  | { readonly type: 'progress'; readonly processedMs: number; readonly durationMs?: number | undefined }
  | { readonly type: 'segment'; readonly segment: TimedText };

/** The end of a call. */
export type LastMessage =
  | { readonly type: 'result'; readonly transcript: Transcript }
  | ({ readonly type: 'failed' } & Failure)
  /** The worker cannot do it, and another may: it stops, its disk is full, it does not know the model. */
  | Returned;

export interface Returned extends Failure {
  readonly type: 'returned';
  /** Id of the worker, unless it stops. */
  readonly worker?: string | undefined;
}

export interface Failure {
  readonly code: EngineErrorCode;
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

/** The connection of a worker that has taken a call, as a front has it. */
export interface WorkerConnection {
  readonly messages: AsyncIterable<WorkerMessage>;
  /** Ends the connection after the last message. */
  readonly end: () => void;
  /** Ends the work. */
  readonly cut: () => void;
}

/** Bytes of a message; the result of ten hours of speech with words has 10 million. */
const longestMessage = 67_108_864;

/** Ends when the stream ends, for any reason, and after what is not a message. `received` is called for each chunk. */
export async function* messagesOf<M extends { readonly type: string }>(
  stream: Readable,
  received: () => void,
): AsyncGenerator<M, void, undefined> {
  const lines = new LineSplitter(longestMessage, 'throw');
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
    // The connection broke, or the message is too long. It does not matter how.
  }
}

/**
 * Sends signs of life, and calls `dead` once when none comes back. Counts ticks instead of the time since the last sign:
 * after a blocked event loop, one late tick is one tick, and the signs that came meanwhile are read before the next.
 */
export function startPulse(
  { signMs, silenceMs }: Pick<FleetTimeouts, 'signMs' | 'silenceMs'>,
  send: () => void,
  dead: () => void,
) {
  const silentTicks = Math.ceil((2 * silenceMs) / signMs);
  let ticks = 0;
  let silent = 0;
  const timer = setInterval(() => {
    ticks += 1;
    silent += 1;
    if (silent === silentTicks) dead();
    else if (ticks % 2 === 0) send();
  }, signMs / 2);
  return {
    /** Anything has come from the other end. */
    received: () => void (silent = 0),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
