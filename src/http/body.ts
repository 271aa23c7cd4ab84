/** What reading any body needs: permission to send it, a deadline, and an end when the caller leaves. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { linkedSignal } from '../../lib/abort.ts';
import type { Arrivals } from './body-pace.ts';

/** A request and how its body may be read. */
export interface BodySource {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
  /** Milliseconds for the whole body. */
  readonly timeoutMs: number;
  readonly arrivals: Arrivals;
}

const waiting = new WeakSet<IncomingMessage>();

/** Marks a request that sends its body only when told to (`Expect: 100-continue`). */
export function holdsItsBody(req: IncomingMessage): void {
  waiting.add(req);
}

/** The declared length in bytes; undefined for a chunked body. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Lets the caller send, and runs `read` under the deadline and the signal. Its own signal ends what is left of it. */
export async function receive<T>(
  { req, res, signal, timeoutMs, arrivals }: BodySource,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  if (waiting.delete(req)) res.writeContinue();
  const over = linkedSignal(signal);
  const unwatch = arrivals.watch(req, { timeoutMs, late: (problem) => over.abort(problem) });
  try {
    return await over.race(read(over.signal));
  } finally {
    unwatch();
    over[Symbol.dispose]();
    over.abort(ended);
  }
}

/** Made once: without a reason, every abort would make an exception with a stack. */
const ended = new Error('the body has been read');

const lingerBytes = 64 * 1024 * 1024;
const lingerMs = 10_000;

/**
 * After an early answer: reads on what the caller still sends, so that it sees the answer instead of a broken pipe,
 * but not for ever.
 */
export function linger(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  const { socket } = req;
  let bytes = 0;
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, lingerMs);
  // A connection that is not kept alive has ended with the answer: this keeps Node from destroying it unread.
  // eslint-disable-next-line @typescript-eslint/unbound-method -- the listener that Node has added
  socket.off('finish', socket.destroy);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > lingerBytes) giveUp();
  });
  req.once('close', () => clearTimeout(timer));
  req.once('end', () => {
    clearTimeout(timer);
    if (socket.writableEnded) giveUp();
  });
  req.on('error', () => undefined); // the caller has gone; nothing is left to tell
  req.resume();
}
