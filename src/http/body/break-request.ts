/**
 * Lets the server fail a request whose body is not valid HTTP, so that the app responds with a request id and logs it.
 */
import type { IncomingMessage } from 'node:http';

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
