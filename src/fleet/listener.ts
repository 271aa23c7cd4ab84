/**
 * The fleet port of a front, where workers open connections and fetch recordings, and other fronts forward requests.
 * Every request is signed.
 */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { toJsonLine } from '../../lib/json-lines.ts';
import { createServer } from '../../lib/node-http.ts';
import type { Logger } from '../../engines/contract/index.ts';
import { keyHeader } from '../contract/forwarding.ts';
import { SettingsError } from '../settings/load.ts';
import { connectionLimit } from '../system/file-descriptors.ts';
import { createClocks, type Clocks } from './clocks.ts';
import { messagesOf, recordingChunk, startPulse, type FrontMessage, type WorkerConnection } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Verify } from './signature.ts';
import type { OpenCall } from './waiting-calls.ts';

export interface FleetListenerOptions {
  readonly host: string;
  readonly port: number;
  /** FLEET_ADDRESS, the prefix of every URL that other nodes sign. */
  readonly address: string;
  readonly verify: Verify;
  readonly find: (id: string) => OpenCall | undefined;
  /** Answers the requests that other fronts forward; undefined until the service is open. */
  readonly serve: () => ServeForwarded | undefined;
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
}

export type ServeForwarded = (req: IncomingMessage, res: ServerResponse) => void;

const fleetPath = '/fleet/';
export const callsPath = `${fleetPath}v1/calls/`;

/** Throws a `SettingsError` if the address cannot be listened on. */
export async function listenForFleet(options: FleetListenerOptions): Promise<AsyncDisposable> {
  const { host, port, timeouts, log } = options;
  const clocks = createClocks(log);
  const server = createServer({
    requestTimeout: 0, // a connection stays open during its transcription
    headersTimeout: timeouts.headMs, // the default depends on requestTimeout
    connectionsCheckingInterval: timeouts.headMs,
    keepAliveTimeout: 75_000,
    noDelay: true,
  });
  server.maxConnections = connectionLimit(); // leaves file descriptors for the callers
  server.on('drop', () => log.debug({}, 'the fleet port has too many connections: one was closed'));
  server.setTimeout(timeouts.clipMs); // closes connections whose peer stops reading
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

/** Requests without a valid signature get the same answer whatever they ask for. */
async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  options: FleetListenerOptions & { readonly clocks: Clocks },
): Promise<void> {
  const { method = '', url = '', headers, socket } = req;
  const { address, verify, find, serve, clocks } = options;
  const { remoteAddress: peer = 'unknown' } = socket;
  const key = headers[keyHeader]?.toString();
  const verdict = verify({ method, url: `${address}${url}`, key }, headers.authorization, Date.now());
  if (verdict === 'invalid') return refuse(res, 401);
  const [, id = '', part] = /^\/fleet\/v1\/calls\/([\w-]{22})(\/recording)?$/.exec(url) ?? [];
  const call = find(id);
  if (verdict !== 'valid') {
    clocks.differs(peer, verdict.signedAt);
    call?.refuse();
    return refuse(res, 401);
  }
  clocks.agrees(peer);
  if (!url.startsWith(fleetPath)) return (serve() ?? notOpen)(req, res);
  if (call === undefined) return refuse(res, 410);
  if (method === 'POST' && part === undefined)
    return call.isTaken ? refuse(res, 409) : openLine(req, res, call, options);
  if (method !== 'GET' || part === undefined) return refuse(res, 405);
  if (!call.isTaken) return refuse(res, 409);
  res.setHeader('Content-Length', call.document.recording.bytes);
  await pipeline(createReadStream(call.recordingPath, { highWaterMark: recordingChunk }), res);
}

/** Also closes the connection, because the body of a refused request would never end. */
function refuse(res: ServerResponse, status: number): void {
  res.writeHead(status, { Connection: 'close' }).end();
}

const notOpen: ServeForwarded = (_req, res) => refuse(res, 503);

function openLine(req: IncomingMessage, res: ServerResponse, call: OpenCall, { timeouts }: FleetListenerOptions): void {
  const cut = () => void res.destroy();
  const send = (message: FrontMessage) => void res.write(toJsonLine(message));
  res.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  send({ type: 'call', call: call.document });
  const pulse = startPulse(timeouts, () => send({ type: 'alive' }), cut);
  res.on('close', () => pulse[Symbol.dispose]());
  const connection: WorkerConnection = { messages: messagesOf(req, pulse.received), end: () => void res.end(), cut };
  call.take(connection);
}
