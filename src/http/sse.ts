/** Sends contract events as server-sent events, in the format of their API. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ignore } from '../../lib/errors.ts';
import type { ProblemAnswer } from '../contract/problems.ts';

export interface FailedStream {
  /** The thrown value. */
  readonly reason: unknown;
  /** The last event that was sent. */
  readonly last: unknown;
}

/** The event encoding of an API. */
export interface StreamFormat {
  readonly encode: (event: unknown) => string;
  /** A comment that keeps idle connections open through proxies. */
  readonly heartbeat: string;
  /** Returns the text after the last event of a successful stream; may be empty. */
  readonly end: (last: unknown) => string;
  /** Returns the last event of a failed stream. */
  readonly encodeFailure: (problem: ProblemAnswer, failed: FailedStream) => string;
}

export interface EventStream {
  readonly events: AsyncIterable<unknown>;
  readonly format: StreamFormat;
  /** Aborts when the client disconnects and when the service shuts down, which also ends the events. */
  readonly signal: AbortSignal;
  /** Idle milliseconds before a heartbeat. */
  readonly heartbeatMs: number;
  /** Encodes the failure for the client. Throws if the client has disconnected. */
  readonly encodeFailure: (error: unknown, last: unknown) => string;
}

export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform, because a compressing proxy would buffer the first events. Not no-store, because Chromium (156) would
  // then report most fully read streams as net::ERR_ABORTED. Answers to such a POST are not cached anyway.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Sends the head, then each event as it arrives. Applies backpressure to the engine: the next event is pulled only when
 * the socket has drained. An error is sent as the last event. Rejects if the client has disconnected.
 */
export async function sendEvents(res: ServerResponse, stream: EventStream): Promise<void> {
  const { events, format, signal, heartbeatMs, encodeFailure } = stream;
  let last: unknown;
  const heartbeat = setInterval(() => {
    if (!res.writableNeedDrain) res.write(format.heartbeat);
  }, heartbeatMs);
  try {
    res.socket?.setNoDelay(true);
    res.flushHeaders();
    for await (const event of events) {
      last = event;
      heartbeat.refresh();
      // After an abort, the events throw the reason.
      if (!res.write(format.encode(event))) await once(res, 'drain', { signal }).catch(ignore);
    }
    const end = format.end(last);
    if (end !== '') res.write(end);
  } catch (error) {
    res.write(encodeFailure(error, last));
  } finally {
    clearInterval(heartbeat);
    res.end();
  }
}
