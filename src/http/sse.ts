/** Sends contract events as server-sent events: `event:` is the type, `id:` the seq. */
import type { ServerResponse } from 'node:http';
import type { OperationId, Schemas } from '../contract/operations.ts';

type StreamEvent = Schemas['ChatEvent'] | Schemas['TranscriptionEvent'];

/** By operation with a stream: the last event of one that fails. */
const failedEvents = {
  streamChat: 'chat.failed',
  streamTranscription: 'transcription.failed',
} as const satisfies Partial<Record<OperationId, StreamEvent['type']>>;

export interface EventStream {
  readonly events: AsyncIterable<StreamEvent>;
  readonly operation: keyof typeof failedEvents;
  /** Aborts when the client disconnects and when the service shuts down; the events end then, too. */
  readonly signal: AbortSignal;
  /** Idle milliseconds before a comment is sent as keep-alive for proxies. */
  readonly heartbeatMs: number;
  /** The problem sent to the client. Throws when the client has disconnected. */
  readonly toProblem: (error: unknown) => Schemas['Problem'];
}

export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform: a compressing proxy would buffer the first events. Not no-store: Chromium (156) then reports most
  // streams that a page has read to the end as net::ERR_ABORTED. The answer to a POST like this is not cached anyway.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Sends the head, then each event as it arrives. Backpressure reaches the engine: the next event is only pulled when the
 * socket has drained. An error is sent as the last event. Rejects when the client has disconnected.
 */
export async function sendEvents(res: ServerResponse, stream: EventStream): Promise<void> {
  const { events, operation, signal, heartbeatMs, toProblem } = stream;
  let seq = 0;
  const heartbeat = setInterval(() => {
    if (!res.writableNeedDrain) res.write(':\n\n');
  }, heartbeatMs);
  try {
    res.socket?.setNoDelay(true);
    res.flushHeaders();
    for await (const event of events) {
      seq = event.seq + 1;
      heartbeat.refresh();
      if (!res.write(encode(event))) await drained(res, signal);
    }
  } catch (error) {
    res.write(encode({ type: failedEvents[operation], seq, problem: toProblem(error) }));
  } finally {
    clearInterval(heartbeat);
    res.end();
  }
}

function encode(event: StreamEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Also resolves on abort; the events then throw the reason. */
async function drained(res: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    res.once('drain', done);
    signal.addEventListener('abort', done);
  });
}
