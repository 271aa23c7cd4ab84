import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * For programs that do not say which port they have chosen themselves. It lies below those that the system gives to
 * sockets that ask for any (ip_local_port_range): no other test gets it before the program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % 12_000;
    const port = 20_000 + next; // another call may continue while this one waits
    if (await isFree(port)) return port;
  }
}

/** Processes that run beside each other begin in different places. */
let next = (process.pid * 101) % 12_000;

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
