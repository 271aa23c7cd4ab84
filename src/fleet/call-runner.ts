/** Runs calls on a worker: takes a ticket, opens the connection to its front, runs the engine and sends the result. */
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
import { errnoOf, ignore } from '../../lib/errors.ts';
import type { HttpClient, HttpResponse } from '../../lib/http-client.ts';
import { toJsonLine } from '../../lib/json-lines.ts';
import { isDiskFull } from '../../lib/resource-limits.ts';
import { runInScope, type RequestUsage } from '../request-scope.ts';
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
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
  /** Aborts when the node stops. Calls in progress are returned to their fronts. */
  readonly stopping: AbortSignal;
}

const droppedTicket =
  'a ticket was dropped: it has expired or was not created by this fleet; fix: set the same FLEET_SECRET on all nodes and synchronize their clocks';

/**
 * Resolves after the call's files have been removed from this machine. Never rejects: the front receives every failure.
 * The ticket is dropped if the front has found another worker, its caller has disconnected, or it cannot be reached; a
 * front whose caller still waits queues the call again. `report` is called for outcomes that reveal the health of this
 * worker, before the front receives them and may queue the call again.
 */
export function createCallRunner(options: CallRunnerOptions): ConsumeTicket {
  const { id, secret, log } = options;
  const clocks = createClocks(log);
  let isWarned = false; // logged once: anyone who can write to Redis could otherwise fill the disk with log lines
  return async (value, { report, isPaused }) => {
    const ticket = openTicket(secret, value, Date.now());
    if (!ticket && !isWarned) log.warn({}, droppedTicket);
    isWarned = !ticket;
    const isAgain = ticket?.returnedBy?.includes(id) ?? false;
    if (!ticket || (isAgain && isPaused)) return; // its front queues the call again for other workers
    const { origin } = new URL(ticket.url);
    // Another process may own the address by now, and could keep the connection open forever.
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
  /** Resolves with the call; stays pending if the connection closes first. */
  readonly call: Promise<CallDocument>;
  readonly send: (message: WorkerMessage) => void;
  /** Whether the front reads more slowly than messages are sent. */
  readonly isCongested: () => boolean;
  /** Aborts when either end closes the connection. */
  readonly closed: AbortSignal;
  /** Ends this side after the last message; resolves when the front has closed its side. */
  end(): Promise<void>;
}

const connectionClosed = new Error('the connection to the front is closed');

/** Rejects unless the front accepts the connection. Aborting the link closes the connection, and vice versa. */
async function connectToFront(
  url: string,
  link: LinkedSignal,
  { http, sign, timeouts }: CallRunnerOptions,
): Promise<FrontConnection> {
  const { signal } = link;
  const close = () => link.abort(connectionClosed);
  const outgoing = new PassThrough();
  const send = (message: WorkerMessage) => {
    // Sending a long result may outlast the heartbeat interval, and a write after the end would break the connection.
    if (!outgoing.writableEnded) outgoing.write(toJsonLine(message));
  };
  outgoing.on('error', ignore); // the connection then closes
  send({ type: 'alive' }); // the request head is sent with the first bytes of the body
  const headers = { authorization: sign({ method: 'POST', url }), 'content-type': 'application/x-ndjson' };
  const request = http.request(url, { method: 'POST', headers, body: outgoing, signal });
  const { body } = await accepted(link.within(timeouts.silenceMs, () => connectionClosed, request));
  const pulse = startPulse(timeouts, () => send({ type: 'alive' }), close);
  onAbort(signal, pulse[Symbol.dispose]);
  body.on('error', ignore).on('close', close); // closing the connection aborts `signal`
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

/** Keeps reading until the connection closes, because heartbeats follow the call. */
function callOf(messages: AsyncIterable<FrontMessage>): Promise<CallDocument> {
  const { promise, resolve } = Promise.withResolvers<CallDocument>();
  void (async () => {
    for await (const message of messages) if (message.type === 'call') resolve(message.call);
  })();
  return promise;
}

/**
 * Returns undefined for outcomes that reveal nothing about this worker. A missing model counts only when the worker
 * gets the same call again. Failures with codes other than `engine-failed` are attributed to the recording.
 */
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
  if (ticket.v !== version)
    return { ...unavailable(`This worker supports only version ${version} of tickets.`), worker };
  using link = linkedSignal(connection.closed, stopping);
  const { signal } = link;
  try {
    return { type: 'result', ...(await transcribe(ticket.url, connection, signal, options)) };
  } catch (error) {
    connection.closed.throwIfAborted();
    if (stopping.aborted) return unavailable('The worker is stopping.');
    // The disk may be full although the disk budget is not.
    if (isDiskFull(error) || errnoOf(error) === 'EROFS')
      return { type: 'returned', code: 'storage-full', message: 'The disk of the worker is full.', worker };
    if (!EngineError.is(error)) throw error;
    const { code, message, retryAfter } = error;
    if (code === 'unknown-model') return { ...unavailable('This worker does not have the model.'), worker };
    if (otherWorkersMay.includes(code)) return { type: 'returned', code, message, retryAfter, worker };
    return { type: 'failed', code, message, retryAfter };
  }
}

/** Codes of failures that are specific to this worker: another worker may succeed. */
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
  const usage: RequestUsage = {};
  return await runInScope({ ...scope, usage }, async () => {
    try {
      const transcript = await engine.transcribe({ ...call, recording: { ...recording, path } }, reporting);
      return { transcript, gapMs: usage.gapMs };
    } catch (error) {
      // Logged here, with the request id: the front receives the public code and message, but not the cause.
      if (!signal.aborted && (error as Error).cause !== undefined)
        log.warn({ instance, err: error }, 'a transcription failed');
      throw error;
    }
  });
}

/** Throws unless the source has exactly `bytes` bytes, the number taken from the disk budget. */
async function* exactly(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of source) {
    received += chunk.length;
    if (received > bytes) break;
    yield chunk;
  }
  if (received !== bytes) throw new Error('the size of the recording differs from the announced size');
}

/** The front rejected the signature, and its Date header shows that the clocks differ. */
class ClocksDiffer extends Error {
  readonly frontMs: number;

  constructor(frontMs: number) {
    super('the clock of the front differs');
    this.frontMs = frontMs;
  }
}

/** Rejects unless the status is 200. */
async function accepted(request: Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await request;
  if (response.statusCode === 200) return response;
  response.body.on('error', ignore).resume();
  const frontMs = Date.parse(String(response.headers.date));
  if (response.statusCode === 401 && Math.abs(frontMs - Date.now()) > skewMs / 2) throw new ClocksDiffer(frontMs);
  throw new Error(`the front answered ${response.statusCode}`);
}
