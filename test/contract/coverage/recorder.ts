/**
 * Notes what a service really answers: method, path and status of each answer, the type of each event. It listens where
 * Node itself tells of HTTP (node:diagnostics_channel), so that the service knows nothing of it. An answer that was asked
 * for by `Prefer: code=...` is made of the contract's example and proves nothing: it is not noted.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, openSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

/** The directory for the notes, set while the tests run with coverage. */
export const directoryVariable = 'CONTRACT_COVERAGE_DIR';

/** The file in which a run keeps its notes for another one; absent: below node_modules/.cache. */
export const keptVariable = 'CONTRACT_COVERAGE_KEPT';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const ports = new Set<number>();
let listens = false;

/** From now on, what is answered on the port; on every port of this process when none is given. */
export function recordAnswers(port?: number): void {
  const directory = process.env[directoryVariable];
  if (directory === undefined) return;
  if (port !== undefined) ports.add(port);
  if (listens) return;
  listens = true;
  const note = createNotes(join(directory, `${process.pid}-${performance.timeOrigin}`));
  const isOurs = ({ request }: Exchange) => ports.size === 0 || ports.has(request.socket.localPort ?? 0);
  const counts = (exchange: Exchange) =>
    isOurs(exchange) && !/\bcode\s*=/i.test(String(exchange.request.headers.prefer));
  subscribe('http.server.request.start', (message) => {
    const exchange = message as Exchange;
    if (counts(exchange)) noteEvents(exchange.response, note);
  });
  subscribe('http.server.response.finish', (message) => {
    const exchange = message as Exchange;
    const { method = '', url = '' } = exchange.request;
    if (counts(exchange)) note(`${method} ${url.split('?')[0] ?? ''} ${exchange.response.statusCode}`);
  });
}

function createNotes(file: string): (line: string) => void {
  const noted = new Set<string>();
  let descriptor: number | undefined; // kept open, for services that run out of them
  return (line) => {
    if (noted.has(line)) return;
    noted.add(line);
    descriptor ??= openSync(file, 'a');
    appendFileSync(descriptor, `${line}\n`); // at once: a process may be killed
  };
}

/** Reads along what is written to an event stream. */
function noteEvents(response: ServerResponse, note: (line: string) => void): void {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]) => {
    if (String(response.getHeader('content-type')).startsWith('text/event-stream')) {
      for (const [, type] of String(args[0]).matchAll(/^event: (.+)$/gm)) note(`event ${type}`);
    }
    return write(...args);
  };
}
