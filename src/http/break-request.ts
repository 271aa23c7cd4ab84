/** How the server fails a request whose body turns out not to be HTTP: the app answers it, with its id and its log line. */
import type { IncomingMessage } from 'node:http';

const requests = new WeakMap<IncomingMessage, (reason: Error) => void>();

/** Registers what fails the request. */
export function onBroken(req: IncomingMessage, fail: (reason: Error) => void): void {
  requests.set(req, fail);
}

/** Fails the request. False when no app has it. */
export function breakRequest(req: IncomingMessage, reason: Error): boolean {
  const fail = requests.get(req);
  fail?.(reason);
  return fail !== undefined;
}
