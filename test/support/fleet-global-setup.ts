/**
 * Global setup: with TEST_FLEET=1, a redis-server for all tests of the run (fleet-mode.ts), and a front and a worker in
 * processes of their own for the tests that need nothing but the address of a service (contract/support/service.ts).
 */
import { setTimeout as pause } from 'node:timers/promises';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_FLEET !== '1') return undefined;
  const { redisVariable } = await import('./fleet-mode.ts');
  if (process.env[redisVariable] !== undefined) return undefined; // another project of this run has begun
  const { openRedisServer } = await import('./redis.ts');
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await openRedisServer());
  process.env[redisVariable] = redis.url;
  const { baseUrlVariable } = await import('../contract/support/service.ts');
  if (process.env[baseUrlVariable] === undefined) {
    const { startFront, startWorker } = await import('../fleet/support/fleet.ts');
    const { scripted } = await import('../contract/support/engines.ts');
    stack.use(await startWorker({ url: redis.url, ...scripted }));
    const front = stack.use(await startFront({ url: redis.url, ...scripted }));
    await ready(front.url);
    process.env[baseUrlVariable] = front.url;
  }
  const nodes = stack.move();
  return () => nodes.disposeAsync();
}

/** Resolves once the front has read that the worker takes its transcriptions. */
async function ready(url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { available, reason } = (await (await fetch(`${url}/api/v1/transcribe`)).json()) as Availability;
    if (available) return;
    if (performance.now() > deadline) throw new Error(`the front has no worker: ${reason}`);
    await pause(10);
  }
}

interface Availability {
  readonly available: boolean;
  readonly reason: string;
}
