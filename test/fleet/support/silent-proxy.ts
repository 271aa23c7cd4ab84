/** Between a node and its Redis: what a NAT table or a firewall does to connections that it has forgotten. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SilentProxy extends AsyncDisposable {
  readonly url: string;
  /** From now on no byte passes on the connections that are open, in either direction, and none is closed. */
  silence(): void;
}

export async function openSilentProxy(target: string): Promise<SilentProxy> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let passing = { isOpen: true };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const link = passing;
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (link.isOpen) to.write(chunk);
      });
      from
        .on('error', () => {})
        .on('close', () => {
          if (link.isOpen) to.destroy();
        });
    };
    pass(client, upstream);
    pass(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence() {
      passing.isOpen = false;
      passing = { isOpen: true };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
