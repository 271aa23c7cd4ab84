/** Sends a response on a raw socket, if there is no request that could be answered. */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from '../../../lib/node-http.ts';
import type { Logger } from '../../../engines/contract/index.ts';
import { problemAnswer, type ProblemError } from '../../contract/problems.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ApiFormat } from '../api-format.ts';

/** Additional fields for the access log. */
type LogFields = Readonly<Record<string, unknown>>;

interface RawResponseOptions {
  readonly log: Logger;
  readonly format: ApiFormat;
  readonly facts?: LogFields | undefined;
  readonly metrics?: Metrics | undefined;
}

/** Sends the problem, half-closes the socket and writes the access log line. */
export function answerOnSocket(
  socket: Duplex,
  error: ProblemError,
  { log, format, facts, metrics }: RawResponseOptions,
): void {
  const id = randomUUID();
  const signal = AbortSignal.abort(error);
  const { status, mediaType, headers, body } = format.toFailure(problemAnswer(error, id), { reason: error, signal });
  const text = JSON.stringify(body);
  const lines = {
    'X-Request-Id': id,
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(text),
    ...headers,
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  if (socket.writable)
    socket.end(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${text}`);
  log.info({ id, ...facts, status, ms: 0 }, 'request');
  metrics?.requestRefused(status, error.code);
}
