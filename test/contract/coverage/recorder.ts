/**
 * Notes what a service really answers: method, path and status of each answer, the type of each event, the kind of each
 * chunk under /v1. It listens where
 * Node itself tells of HTTP (node:diagnostics_channel), so that the service knows nothing of it. An answer that was asked
 * for by `Prefer: code=...` is made of the contract's example and proves nothing: it is not noted, nor is one that is cut.
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
let note: ((line: string) => void) | undefined;
let isEvery = false;
let listens = false;

/** From now on, what is answered on the port; on every port of this process when none is given. */
export function recordAnswers(port?: number): void {
  const directory = process.env[directoryVariable];
  if (directory === undefined) return;
  if (port === undefined) isEvery = true;
  else ports.add(port);
  if (listens) return;
  listens = true;
  const write = createNotes(join(directory, `${process.pid}-${performance.timeOrigin}`));
  const isOurs = ({ request }: Exchange) => isEvery || ports.has(request.socket.localPort ?? 0);
  const counts = (exchange: Exchange) =>
    isOurs(exchange) && !/\b(code|cut)\s*=/i.test(String(exchange.request.headers.prefer));
  subscribe('http.server.request.start', (message) => {
    const exchange = message as Exchange;
    if (counts(exchange)) noteEvents(exchange, write);
  });
  subscribe('http.server.response.finish', (message) => {
    const exchange = message as Exchange;
    const { method = '', url = '' } = exchange.request;
    if (counts(exchange)) write(`${method} ${url.split('?')[0] ?? ''} ${exchange.response.statusCode}`);
  });
  note = write;
}

/** Node tells of no answer to an upgrade: who has received one says so. */
export function recordUpgrade(path: string, status: number): void {
  note?.(`GET ${path.split('?')[0] ?? ''} ${status}`);
}

/** The port may belong to another server of this process next. */
export function stopRecording(port: number): void {
  ports.delete(port);
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
function noteEvents({ request, response }: Exchange, note: (line: string) => void): void {
  const [path = ''] = (request.url ?? '').split('?');
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]) => {
    if (String(response.getHeader('content-type')).startsWith('text/event-stream')) {
      for (const [, type] of String(args[0]).matchAll(/^event: (.+)$/gm)) note(`event ${type}`);
      if (path.startsWith('/v1/')) {
        // Not by a regular expression, which takes U+2028 for the end of a line.
        const lines = String(args[0])
          .split('\n')
          .filter((line) => line.startsWith('data: '));
        for (const line of lines) for (const kind of kindsOf(line.slice(6))) note(`chunk ${path} ${kind}`);
      }
    }
    return write(...args);
  };
}

interface Chunk {
  readonly error?: object;
  readonly type?: string;
  readonly choices?: readonly { readonly delta: object; readonly finish_reason: string | null }[];
  readonly usage?: object | null;
}

/** What a chunk is, in the words of report.ts. */
function kindsOf(data: string): string[] {
  if (data === '[DONE]') return [data];
  const { error, type, choices = [], usage } = JSON.parse(data) as Chunk;
  return [
    ...(error ? ['error'] : []),
    ...(type === undefined ? [] : [type]),
    ...(usage ? ['usage'] : []),
    ...choices.flatMap(({ delta, finish_reason: reason }) => [
      ...Object.keys(delta).map((name) => `delta.${name}`),
      ...(reason === null ? [] : [`finish_reason.${reason}`]),
    ]),
  ];
}
