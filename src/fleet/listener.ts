/**
 * The fleet port of a front: workers open connections here, and fetch recordings; other fronts fetch clips and
 * jobs. Every request is signed.
 */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { toJsonLine } from '../../lib/json-lines.ts';
import { createServer } from '../../lib/node-http.ts';
import type { Logger } from '../../engines/contract/index.ts';
import type { Clips } from '../clips/store.ts';
import type { Jobs } from '../jobs/store.ts';
import { SettingsError } from '../settings/load.ts';
import { connectionLimit } from '../system/file-descriptors.ts';
import { clipsPath, serveClip } from './clip-port.ts';
import { jobsPath, serveJob } from './job-port.ts';
import { createClocks, type Clocks } from './clocks.ts';
import { messagesOf, recordingChunk, startPulse, type FrontMessage, type WorkerConnection } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Verify } from './signature.ts';
import type { OpenCall } from './waiting-calls.ts';

export interface FleetListenerOptions {
  readonly host: string;
  readonly port: number;
  /** FLEET_ADDRESS: the start of every URL that workers sign. */
  readonly address: string;
  readonly verify: Verify;
  readonly find: (id: string) => OpenCall | undefined;
  /** The clips of this front; undefined before it has any. */
  readonly clips: () => Clips | undefined;
  /** Its jobs likewise. */
  readonly jobs: () => Jobs | undefined;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
}

export const callsPath = '/fleet/v1/calls/';

/** Throws a `SettingsError` if it cannot listen there. */
export async function listenForFleet(options: FleetListenerOptions): Promise<AsyncDisposable> {
  const { host, port, limits, log } = options;
  const clocks = createClocks(log);
  const server = createServer({
    requestTimeout: 0, // a connection is open for as long as its transcription takes
    headersTimeout: limits.headMs, // its default is that of requests: none
    connectionsCheckingInterval: limits.headMs,
    keepAliveTimeout: 75_000,
    noDelay: true,
  });
  server.maxConnections = connectionLimit(); // callers need descriptors, too
  server.on('drop', () => log.debug({}, 'the fleet port has too many connections: one was closed'));
  server.setTimeout(limits.clipMs); // a peer that reads nothing
  server.on('request', (req, res) => {
    respond(req, res, { ...options, clocks }).catch((error: unknown) => {
      log.debug({ err: error }, 'a request of the fleet failed');
      res.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => {
      const what = `FLEET_LISTEN: cannot listen on ${host}:${port}: ${message}`;
      reject(new SettingsError(`${what}; set FLEET_LISTEN to an address of this machine and a free port`));
    });
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, 'a connection of the fleet could not be accepted'));
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Requests without a valid signature learn nothing about what exists. */
async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  options: FleetListenerOptions & { readonly clocks: Clocks },
): Promise<void> {
  const { method = '', url = '', headers, socket } = req;
  const { address, verify, find, clocks } = options;
  const { remoteAddress: peer = 'unknown' } = socket;
  const verdict = verify({ method, url: `${address}${url}` }, headers.authorization, Date.now());
  if (verdict === 'invalid') return refuse(res, 401);
  const [, id = '', part] = /^\/fleet\/v1\/calls\/([\w-]{22})(\/recording)?$/.exec(url) ?? [];
  const call = find(id);
  if (verdict !== 'valid') {
    clocks.differs(peer, verdict.signedAt);
    call?.refuse();
    return refuse(res, 401);
  }
  clocks.agrees(peer);
  if (url.startsWith(clipsPath)) return serveClip(req, res, options.clips());
  if (url.startsWith(jobsPath)) return serveJob(req, res, options.jobs(), options.limits);
  if (call === undefined) return refuse(res, 410);
  if (method === 'POST' && part === undefined)
    return call.isTaken ? refuse(res, 409) : openLine(req, res, call, options);
  if (method !== 'GET' || part === undefined) return refuse(res, 405);
  if (!call.isTaken) return refuse(res, 409);
  res.setHeader('Content-Length', call.document.recording.bytes);
  await pipeline(createReadStream(call.recordingPath, { highWaterMark: recordingChunk }), res);
}

/** Closes the connection: the body of a refused connection would never end. */
function refuse(res: ServerResponse, status: number): void {
  res.writeHead(status, { Connection: 'close' }).end();
}

function openLine(req: IncomingMessage, res: ServerResponse, call: OpenCall, { limits }: FleetListenerOptions): void {
  const cut = () => void res.destroy();
  const send = (message: FrontMessage) => void res.write(toJsonLine(message));
  res.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  send({ type: 'call', call: call.document });
  const pulse = startPulse(limits, () => send({ type: 'alive' }), cut);
  res.on('close', () => pulse[Symbol.dispose]());
  const connection: WorkerConnection = { messages: messagesOf(req, pulse.received), end: () => void res.end(), cut };
  call.take(connection);
}
