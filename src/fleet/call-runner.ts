/** A worker: takes a ticket, opens the connection to its front, runs the real engine, and sends the result. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import {
  EngineError,
  type EngineErrorCode,
  type Logger,
  type TranscriptionEngine,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { linkedSignal, onAbort, raceAbort, startTimeout, type LinkedSignal } from '../../lib/abort.ts';
import { errnoOf } from '../../lib/errors.ts';
import type { HttpClient, HttpResponse } from '../../lib/http-client.ts';
import { toJsonLine } from '../../lib/json-lines.ts';
import { isDiskFull } from '../../lib/resource-limits.ts';
import { ignore } from '../../lib/ignore.ts';
import { runInScope } from '../request-scope.ts';
import type { Workspace } from '../system/workspace.ts';
import type { CallEnd } from './back-off.ts';
import { createClocks } from './clocks.ts';
import {
  messagesOf,
  recordingChunk,
  startPulse,
  type CallDocument,
  type FrontMessage,
  type LastMessage,
  type WorkerMessage,
  type Returned,
} from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { SignedRequest } from './signature.ts';
import { openTicket, skewMs, version, type Ticket } from './ticket.ts';
import type { ConsumeTicket } from './ticket-consumers.ts';

export interface CallRunnerOptions {
  /** Id of this node. */
  readonly id: string;
  readonly engineOf: (instance: string) => TranscriptionEngine | undefined;
  readonly workspace: Pick<Workspace, 'accountedDirectory'>;
  readonly http: Pick<HttpClient, 'request'>;
  /** FLEET_SECRET. */
  readonly secret: string;
  readonly sign: (request: SignedRequest) => string;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
  /** Hands back what is at work when the node stops. */
  readonly stopping: AbortSignal;
}

const notOurs =
  'a ticket was dropped: no front of this fleet has made it, or it is old; are FLEET_SECRET and the time the same on all nodes?';

/**
 * Resolves when nothing of the call is left on this machine. Never rejects: the front gets every failure. A front that has
 * another worker, has no caller any more, or cannot be reached costs only the ticket: the front queues it again if its
 * caller still waits. `report` is called when a call has ended in a way that says something about this worker, before its
 * front knows and may queue it again.
 */
export function createCallRunner(options: CallRunnerOptions): ConsumeTicket {
  const { id, secret, log } = options;
  const clocks = createClocks(log);
  let isWarned = false; // not for each: writers to Redis could fill the disk with the log
  return async (value, { report, isPaused }) => {
    const ticket = openTicket(secret, value, Date.now());
    if (!ticket && !isWarned) log.warn({}, notOurs);
    isWarned = !ticket;
    const isAgain = ticket?.returnedBy?.includes(id) ?? false;
    if (!ticket || (isAgain && isPaused)) return; // others get it when its front queues it again
    const { origin } = new URL(ticket.url);
    // The address may belong to another process by now, which could keep the connection open forever.
    using link = startTimeout(ticket.expires + skewMs - Date.now(), () => connectionClosed);
    try {
      const connection = await connectToFront(ticket.url, link, options);
      clocks.agrees(origin);
      const last = await lastMessage(ticket, connection, options);
      const end = endOf(last, isAgain);
      if (end) report(end, 'code' in last ? last.code : undefined);
      connection.send(last);
      await connection.end();
    } catch (error) {
      log.debug({ err: error }, 'a ticket was dropped');
      if (!(error instanceof ClocksDiffer)) return;
      clocks.differs(origin, error.frontMs);
      report('returned', undefined);
    } finally {
      link.abort(connectionClosed);
    }
  };
}

interface FrontConnection {
  /** The call; does not resolve when the connection closes first. */
  readonly call: Promise<CallDocument>;
  readonly send: (message: WorkerMessage) => void;
  /** Whether the front reads more slowly than messages are sent. */
  readonly isCongested: () => boolean;
  /** Aborts when the connection is closed, by whichever end. */
  readonly closed: AbortSignal;
  /** After the last message; resolves when the front has closed its side. */
  end(): Promise<void>;
}

const connectionClosed = new Error('the connection to the front is closed');

/** Rejects unless the front accepts. The connection is closed when the link aborts, and the other way round. */
async function connectToFront(
  url: string,
  link: LinkedSignal,
  { http, sign, limits }: CallRunnerOptions,
): Promise<FrontConnection> {
  const { signal } = link;
  const close = () => link.abort(connectionClosed);
  const outgoing = new PassThrough();
  const send = (message: WorkerMessage) => {
    // A long result may take longer than the next sign of life: a write after the end would break its connection.
    if (!outgoing.writableEnded) outgoing.write(toJsonLine(message));
  };
  outgoing.on('error', ignore); // the connection is closed then
  send({ type: 'alive' }); // the head of the request leaves with the first bytes of its body
  const headers = { authorization: sign({ method: 'POST', url }), 'content-type': 'application/x-ndjson' };
  const request = http.request(url, { method: 'POST', headers, body: outgoing, signal });
  const { body } = await accepted(link.within(limits.silenceMs, () => connectionClosed, request));
  const pulse = startPulse(limits, () => send({ type: 'alive' }), close);
  onAbort(signal, pulse[Symbol.dispose]);
  body.on('error', ignore).on('close', close); // the signal of the connection reports it
  return {
    call: callOf(messagesOf<FrontMessage>(body, pulse.received)),
    send,
    isCongested: () => outgoing.writableNeedDrain,
    closed: signal,
    async end() {
      outgoing.end();
      await finished(body, { writable: false }).catch(ignore);
    },
  };
}

/** Reads on until the connection closes: signs of life follow the call. */
function callOf(messages: AsyncIterable<FrontMessage>): Promise<CallDocument> {
  const { promise, resolve } = Promise.withResolvers<CallDocument>();
  void (async () => {
    for await (const message of messages) if (message.type === 'call') resolve(message.call);
  })();
  return promise;
}

/** Any other failure is due to the recording. One model that is not there says something only if its call comes again. */
function endOf(last: LastMessage, isAgain: boolean): CallEnd | undefined {
  if (last.type === 'returned') return last.code === 'model-unavailable' && !isAgain ? undefined : 'returned';
  return last.type === 'failed' && last.code === 'engine-failed' ? 'failed' : 'done';
}

/** Runs the call. Rejects when the connection is closed. */
async function lastMessage(
  ticket: Ticket,
  connection: FrontConnection,
  options: CallRunnerOptions,
): Promise<LastMessage> {
  const { id: worker, stopping } = options;
  if (ticket.v !== version) return { ...unavailable(`This worker knows version ${version} of tickets only.`), worker };
  using link = linkedSignal(connection.closed, stopping);
  const { signal } = link;
  try {
    return { type: 'result', transcript: await transcribe(ticket.url, connection, signal, options) };
  } catch (error) {
    connection.closed.throwIfAborted();
    if (stopping.aborted) return unavailable('The worker stops.');
    // The disk budget has room, and the disk has none.
    if (isDiskFull(error) || errnoOf(error) === 'EROFS')
      return { type: 'returned', code: 'storage-full', message: 'The disk of the worker is full.', worker };
    if (!EngineError.is(error)) throw error;
    const { code, message, retryAfter } = error;
    if (code === 'unknown-model') return { ...unavailable('This worker does not know the model.'), worker };
    if (otherWorkersMay.includes(code)) return { type: 'returned', code, message, retryAfter, worker };
    return { type: 'failed', code, message, retryAfter };
  }
}

/** Conditions of this worker, not of the call. */
const otherWorkersMay: readonly EngineErrorCode[] = ['model-unavailable', 'overloaded', 'storage-full'];

function unavailable(message: string): Returned {
  return { type: 'returned', code: 'model-unavailable', message };
}

async function transcribe(url: string, connection: FrontConnection, signal: AbortSignal, options: CallRunnerOptions) {
  const { engineOf, workspace, http, sign, log } = options;
  const { instance, call, recording, scope, segments } = await raceAbort(connection.call, signal);
  const engine = engineOf(instance);
  if (engine === undefined) throw new EngineError('model-unavailable', `This worker has no engine "${instance}".`);
  await using directory = await workspace.accountedDirectory('fleet', { holder: scope.caller });
  directory.account.take(recording.bytes);
  const path = join(directory.path, 'recording');
  const from = `${url}/recording`;
  const headers = { authorization: sign({ method: 'GET', url: from }) };
  const { body: bytes } = await accepted(http.request(from, { method: 'GET', headers, signal }));
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: recordingChunk });
  await pipeline(bytes, (source: Readable) => exactly(source, recording.bytes), file, { signal });
  const reporting: TranscriptionOptions = {
    signal,
    onQueued: (ahead) => connection.send({ type: 'queued', ahead }),
    onProgress: (processedMs, durationMs) => {
      if (!connection.isCongested()) connection.send({ type: 'progress', processedMs, durationMs });
    },
    ...(segments && { onSegment: (segment) => connection.send({ type: 'segment', segment }) }),
  };
  return await runInScope(scope, async () => {
    try {
      return await engine.transcribe({ ...call, recording: { ...recording, path } }, reporting);
    } catch (error) {
      // With the id of the request: the front gets code and message, which callers may see, and no cause.
      if (!signal.aborted && (error as Error).cause !== undefined)
        log.warn({ instance, err: error }, 'a transcription failed');
      throw error;
    }
  });
}

/** The disk is accounted for these bytes, and no more. */
async function* exactly(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of source) {
    received += chunk.length;
    if (received > bytes) break;
    yield chunk;
  }
  if (received !== bytes) throw new Error('the front sends another recording than it has announced');
}

/** The front refuses the signature, and says what time it is. */
class ClocksDiffer extends Error {
  readonly frontMs: number;

  constructor(frontMs: number) {
    super('the clock of the front differs');
    this.frontMs = frontMs;
  }
}

/** Rejects for any status but 200. */
async function accepted(request: Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await request;
  if (response.statusCode === 200) return response;
  response.body.on('error', ignore).resume();
  const frontMs = Date.parse(String(response.headers.date));
  if (response.statusCode === 401 && Math.abs(frontMs - Date.now()) > skewMs / 2) throw new ClocksDiffer(frontMs);
  throw new Error(`the front answered ${response.statusCode}`);
}
