/** Receives request bodies of all kinds: `100 Continue`, a deadline, and cancellation when the client disconnects. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { linkedSignal } from '../../../lib/abort.ts';
import type { RateWatch } from './min-rate.ts';
import { ignore } from '../../../lib/errors.ts';

/** A request and the limits for reading its body. */
export interface BodySource {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
  /** Timeout for the whole body, in milliseconds. */
  readonly timeoutMs: number;
  readonly arrivals: RateWatch;
}

const awaitingContinue = new WeakSet<IncomingMessage>();

/** Marks a request with `Expect: 100-continue`, so that `receive` sends `100 Continue`. */
export function markAwaitingContinue(req: IncomingMessage): void {
  awaitingContinue.add(req);
}

/** Returns the declared length in bytes; undefined without a Content-Length, as for a chunked body. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/**
 * Sends `100 Continue` if needed and runs `read` with the deadline and the signal. On return, aborts the signal passed
 * to `read`.
 */
export async function receive<T>(
  { req, res, signal, timeoutMs, arrivals }: BodySource,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  if (awaitingContinue.delete(req)) res.writeContinue();
  const over = linkedSignal(signal);
  const unwatch = arrivals.watch(req, { timeoutMs, late: (problem) => over.abort(problem) });
  try {
    return await over.race(read(over.signal));
  } finally {
    unwatch();
    over.end(ended);
  }
}

/** Created once, because `abort()` without a reason creates an exception with a stack each time. */
const ended = new Error('the body has been read');

const lingerBytes = 64 * 1024 * 1024;
const lingerMs = 10_000;

/**
 * After an early response, drains the rest of the body up to a limit, so that the client receives the response instead
 * of a broken pipe.
 */
export function linger(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  const { socket } = req;
  let bytes = 0;
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, lingerMs);
  // Without keep-alive, Node would destroy the connection when the response ends, although bytes are still unread.
  // eslint-disable-next-line @typescript-eslint/unbound-method -- the listener added by Node
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
  req.on('error', ignore); // the client has disconnected
  req.resume();
}

/** A property of the request, because a WeakMap costs 10 µs of garbage collection per request. */
const fails = Symbol('fails the request');

type Breakable = IncomingMessage & { [fails]?: (reason: Error) => void };

/** Registers the function that fails the request. */
export function onBroken(req: Breakable, fail: (reason: Error) => void): void {
  req[fails] = fail;
}

/** Fails the request. Returns false if no function is registered. */
export function breakRequest(req: Breakable, reason: Error): boolean {
  req[fails]?.(reason);
  return req[fails] !== undefined;
}
