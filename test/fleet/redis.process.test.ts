/** A front and a worker whose Redis is there, but does not do what it should. */
import { expect, onTestFinished, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openRedisServer } from '../support/redis.ts';
import { openNode } from './support/node.ts';
import { openSilentProxy } from './support/silent-proxy.ts';

const transcript = { text: 'Hello.', language: 'en' };
const transcribe = () => Promise.resolve(transcript);

async function use<T extends AsyncDisposable>(opening: Promise<T>): Promise<T> {
  const opened = await opening;
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

describeWith(['redis-server'], 'in a fleet', () => {
  test('connections to Redis on which no bytes pass any more are replaced; the worker is not ready meanwhile', async () => {
    const redis = await use(openRedisServer());
    const proxy = await use(openSilentProxy(redis.url));
    const front = await use(openNode({ url: proxy.url, role: 'front' }));
    const worker = await use(openNode({ url: proxy.url, role: 'worker', transcribe }));
    await expect.poll(() => front.transcribe().catch(() => undefined)).toEqual(transcript);

    proxy.silence();
    await expect.poll(() => worker.fleet.notReady()).toEqual(['fleet: Redis cannot be reached']);
    await expect.poll(() => worker.fleet.notReady()).toEqual([]);
    await expect.poll(() => front.transcribe().catch(() => undefined)).toEqual(transcript);
  });
});
