/** The listening socket and its end: requests in flight may finish, new ones may not start. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RequestListener } from './app.ts';
import { holdsItsBody } from './http/body.ts';

export interface ListeningServer {
  /** As this machine reaches it, without a slash at the end. */
  readonly url: string;
  /** Stops accepting; resolves when every request has been answered. */
  close(): Promise<void>;
  /** Breaks what is still connected. */
  readonly destroy: () => void;
}

/** Longer than proxies keep their connections, so that none sends into one that just closes. */
const keepAliveMs = 75_000;

export async function listen(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<ListeningServer> {
  // Bodies have their own deadline, which answers with a problem.
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 0, noDelay: true }, listener);
  const connections = trackIdle(server);
  server.on('checkContinue', (req, res) => {
    holdsItsBody(req);
    server.emit('request', req, res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(server, host),
    close: () => close(server, connections),
    destroy: () => server.closeAllConnections(),
  };
}

function urlOf(server: Server, host: string): string {
  const { port, family, address } = server.address() as AddressInfo;
  const everywhere = address === '::' || address === '0.0.0.0';
  const name = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : host;
  return `http://${name}:${String(port)}`;
}

/** Node takes a connection for busy until its first request has ended, and keeps one alive whose request ends later. */
function trackIdle(server: Server): { end(): void } {
  const idle = new Set<Socket>();
  let ending = false;
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.prependListener('request', ({ socket }, res) => {
    idle.delete(socket);
    if (ending) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (ending) socket.destroySoon();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  return {
    end() {
      ending = true;
      for (const socket of idle) socket.destroy();
    },
  };
}

async function close(server: Server, connections: { end(): void }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    connections.end();
  });
}
