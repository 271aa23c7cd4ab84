/** The listening socket and its graceful shutdown: requests in flight finish, and new connections are not accepted. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureServer, createServer } from '../../../lib/node-http.ts';
import type { RequestListener, UpgradeListener } from '../app.ts';
import { markAwaitingContinue } from '../body/receive.ts';
import { Connections, type ConnectionOptions } from './connections.ts';
import { safeListener } from '../socket/safe-listener.ts';
import { connectionLimit } from '../../system/file-descriptors.ts';
import { ProblemError } from '../../contract/problems.ts';

export interface ListeningServer {
  /** Local URL without a trailing slash. */
  readonly url: string;
  /** Disables keep-alive from now on, so that clients reconnect, possibly to another instance. */
  readonly drain: () => void;
  /** Uses this certificate for new connections, if the server has TLS. */
  readonly setCertificate: (pair: Certificate) => void;
  /** Stops accepting connections; resolves when all requests have been answered. */
  close(): Promise<void>;
  /** Destroys the remaining connections. */
  readonly destroy: () => void;
}

/** Decides which requests become WebSocket connections. All others, such as `Upgrade: h2c`, are ordinary requests. */
export interface Upgrades {
  readonly isSocketTarget: (target: string) => boolean;
  readonly upgrade: UpgradeListener;
}

export interface ListenOptions extends Pick<ConnectionOptions, 'log' | 'formatFor' | 'metrics'> {
  readonly upgrades?: Upgrades | undefined;
  readonly host: string;
  readonly port: number;
  /** Absent without TLS. */
  readonly certificate?: Certificate | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
}

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ConnectionLimits {
  /** Maximum number of connections. */
  readonly connections: number;
  /** Timeout for the head of a request, in milliseconds. */
  readonly headMs: number;
  /** Timeout in milliseconds for a client that does not read its response. */
  readonly stalledMs: number;
}

/**
 * Longer than the keep-alive timeout of common proxies, so that they do not reuse a connection that is being closed.
 */
const keepAliveMs = 75_000;

export async function listen(
  listener: RequestListener,
  { host, port, log, formatFor, certificate, limits = {}, metrics, upgrades }: ListenOptions,
): Promise<ListeningServer> {
  const { connections: limit = connectionLimit(), headMs = 30_000, stalledMs = 60_000 } = limits;
  const options = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headMs,
    connectionsCheckingInterval: Math.ceil(headMs / 30),
    requestTimeout: 0, // bodies have their own timeout
    requireHostHeader: false, // the app itself answers with a problem
    noDelay: true,
    shouldUpgradeCallback: (req: IncomingMessage) => isUpgrade(req, upgrades),
  };
  const secured = certificate && createSecureServer({ ...options, ...certificate, handshakeTimeout: headMs });
  const server = secured ?? createServer(options);
  const connections = new Connections(server, { log, formatFor, limit, stalledMs, metrics });
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    connections.begin(
      res,
      safeListener(log, () => listener(req, res)),
    );
  };
  server.on('request', safeListener(log, serve));
  server.on('checkExpectation', safeListener(log, serve)); // the app rejects the request
  const serveAfterContinue = (req: IncomingMessage, res: ServerResponse) => {
    markAwaitingContinue(req);
    serve(req, res);
  };
  server.on('checkContinue', safeListener(log, serveAfterContinue));
  const serveUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    connections.upgrade(socket, req.url, async () => upgrades?.upgrade(req, socket, head));
  };
  server.on('upgrade', safeListener(log, serveUpgrade));
  const refuseTunnel = (_req: IncomingMessage, socket: Duplex) => {
    socket.on('error', (error) => log.debug({ err: error }, 'a connection broke')).resume();
    connections.refuse(socket, { problem: noTunnel, facts: { method: 'CONNECT' } });
  };
  server.on('connect', safeListener(log, refuseTunnel));
  await once(server.listen(port, host), 'listening');
  server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'));
  return {
    url: `${secured ? 'https' : 'http'}://${authorityOf(server, host)}`,
    drain: () => connections.drain(),
    setCertificate: ({ cert, key }) => secured?.setSecureContext({ cert, key }),
    close: () => close(server, connections),
    destroy: () => connections.destroy(),
  };
}

function isUpgrade({ method, url = '', headers, httpVersion }: IncomingMessage, upgrades?: Upgrades): boolean {
  if (method !== 'GET' || httpVersion !== '1.1' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return upgrades?.isSocketTarget(url) === true;
}

const noTunnel = new ProblemError('method-not-allowed', 'CONNECT is not supported: this is not a proxy.', {
  headers: { Allow: 'GET, HEAD, POST' },
});

function authorityOf(server: Server, host: string): string {
  const { port, family, address } = server.address() as AddressInfo;
  const everywhere = address === '::' || address === '0.0.0.0';
  const name = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : host;
  return `${name}:${String(port)}`;
}

async function close(server: Server, connections: Connections): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    connections.end();
  });
}
