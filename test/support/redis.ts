/** A real redis-server of a test's own, and a connection to look into it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tiedToUs } from './child-service.ts';
import { freePort } from './free-port.ts';
import { requireProgram } from './programs.ts';

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Its working directory, where it would write an RDB or AOF. */
  readonly dir: string;
  /** One command; replies as ioredis gives them. */
  ask(...command: readonly string[]): Promise<unknown>;
  /** Ends it as `SHUTDOWN NOSAVE` does: with everything that it knew. */
  stop(): Promise<void>;
  /** Starts it on the same port, empty. */
  start(): Promise<void>;
}

interface Client {
  call(...command: string[]): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
  disconnect(): void;
}

const load = createRequire(new URL('../../src/fleet/packages/package.json', import.meta.url));

/** Not started with `isThere: false`. */
export async function openRedisServer({ isThere = true } = {}): Promise<RedisServer> {
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), 'parlance-redis-'));
  let child: ChildProcess | undefined;
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    dir,
    async ask(...command) {
      const { default: Redis } = load('ioredis') as { default: new (url: string, options: object) => Client };
      const client = new Redis(server.url, { retryStrategy: () => null });
      client.on('error', () => {});
      try {
        return await client.call(...command);
      } finally {
        client.disconnect();
      }
    },
    async start() {
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir];
      const [program, ...rest] = tiedToUs(requireProgram('redis-server'), ...args);
      child = spawn(program, rest, { stdio: 'ignore' });
      while (!(await accepts(port))) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async stop() {
      if (child?.exitCode !== null || !child.kill('SIGKILL')) return;
      await once(child, 'exit');
      child = undefined;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  if (isThere) await server.start();
  return server;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Puts a job into a queue, as a front does. */
export async function addJob({ url }: RedisServer, name: string, data: object): Promise<void> {
  const { default: Redis } = load('ioredis') as { default: new (url: string, options: object) => Client };
  const { Queue } = load('bullmq') as { Queue: new (name: string, options: object) => TestQueue };
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection, prefix: 'parlance' });
  await queue.add('call', data, { priority: 1, removeOnComplete: true, removeOnFail: true });
  await queue.close();
  connection.disconnect();
}

interface TestQueue {
  add(name: string, data: object, options: object): Promise<unknown>;
  close(): Promise<void>;
}
