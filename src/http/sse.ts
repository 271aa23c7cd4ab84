/** Events of the contract as server-sent events: `event:` is the type, `id:` the number. */
import type { ServerResponse } from 'node:http';
import type { Schemas } from '../contract/operations.ts';

type ChatEvent = Schemas['ChatEvent'];

export interface EventStream {
  readonly events: AsyncIterable<ChatEvent>;
  /** Aborts when the caller leaves and when the service ends; the events end then, too. */
  readonly signal: AbortSignal;
  /** Milliseconds of silence before a comment tells proxies that the stream lives. */
  readonly heartbeatMs: number;
  /** What the caller is told of a failure. Throws when the caller is gone. */
  readonly toProblem: (error: unknown) => Schemas['Problem'];
}

export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform: a proxy that compresses would hold the first events back. Not no-store: Chromium (156) then reports
  // most streams that a page has read to the end as net::ERR_ABORTED. Nothing caches the answer to a POST like this.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/**
 * Sends the head and then each event as it comes. The next event is asked for once there is room for it: a reader that
 * stops reading stops its engine. A failure is the last event. Rejects when the caller is gone.
 */
export async function sendEvents(res: ServerResponse, stream: EventStream): Promise<void> {
  const { events, signal, heartbeatMs, toProblem } = stream;
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
      if (!res.write(encode(event))) await roomIn(res, signal);
    }
  } catch (error) {
    res.write(encode({ type: 'chat.failed', seq, problem: toProblem(error) }));
  } finally {
    clearInterval(heartbeat);
    res.end();
  }
}

function encode(event: ChatEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Resolves also when the wait is pointless: the events will say why. */
async function roomIn(res: ServerResponse, signal: AbortSignal): Promise<void> {
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
