/** A front and a worker whose Redis is there, but does not do what it should. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openRedisServer } from '../support/redis.ts';
import { openNode, shortLimits, use } from './support/node.ts';
import { openSilentProxy } from './support/silent-proxy.ts';

const transcript = { text: 'Hello.', language: 'en' };
const transcribe = () => Promise.resolve(transcript);

describeWith(['redis-server'], 'in a fleet', () => {
  test('the client secret of a front is found by the others, expires, is limited by key and not readable in Redis', async () => {
    const redis = await use(openRedisServer());
    const [one, two] = [
      await use(openNode({ url: redis.url, role: 'front' })),
      await use(openNode({ url: redis.url, role: 'front' })),
    ];
    const [mine, theirs] = [one.fleet.clientSecrets, two.fleet.clientSecrets];
    const secret = {
      key: 'team-app',
      tokenDigest: 'of its token',
      session: { prompt: 'a private prompt' },
      expires: Date.now() + 60_000,
    };
    await expect.poll(() => mine.add('ek_1', secret, 2).catch(() => undefined)).toBe(true);
    await expect.poll(() => theirs.find('ek_1').catch(() => undefined)).toEqual(secret);
    expect(await theirs.find('ek_2')).toBeUndefined();
    expect(await mine.add('ek_2', { ...secret, expires: Date.now() + 1 }, 2)).toBe(true);
    await expect.poll(() => theirs.find('ek_2')).toBeUndefined();
    expect(await theirs.add('ek_3', secret, 2)).toBe(true);
    expect(await mine.add('ek_4', secret, 2)).toBe(false);
    expect(await mine.add('ek_4', { ...secret, key: 'other' }, 2)).toBe(true);

    const keys = (await redis.ask('KEYS', '*:secret*')) as readonly string[];
    const sealed = keys.filter((key) => key.includes(':secret:'));
    const texts = await Promise.all(sealed.map((key) => redis.ask('GET', key)));
    expect(texts).toHaveLength(3);
    expect(JSON.stringify([keys, texts])).not.toMatch(/ek_[134]|team-app|private prompt/);
    for (const key of sealed) await redis.ask('SET', key, 'forged');
    expect(await theirs.find('ek_1')).toBeUndefined();
  });

  test('connections to Redis that stall are replaced; the worker is not ready meanwhile', async () => {
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

  test.each([
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['has become a read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ])('while Redis %s, who waits continues to wait, and no metric calls the fleet idle', async (_what, begin, end) => {
    const redis = await use(openRedisServer());
    const front = await use(openNode({ url: redis.url, role: 'front' }));
    const gate = Promise.withResolvers<typeof transcript>();
    const worker = await use(openNode({ url: redis.url, role: 'worker', transcribe: () => gate.promise }));
    const local = async () => (await front.fleet.state()).engines[0]!;
    const answers = [front.transcribe(), front.transcribe()];
    await expect.poll(async () => (await local()).all).toEqual({ open: 2, running: 1, slots: 1 });

    await redis.ask(...begin);
    await expect.poll(() => worker.fleet.notReady()).toEqual(['fleet: Redis accepts no changes']);
    await expect.poll(async () => (await front.fleet.state()).isRedisUp).toBe(false);
    await expect(front.transcribe()).rejects.toMatchObject({ code: 'overloaded' });
    await expect
      .poll(async () => (await local()).oldestWaitMs)
      .toBeGreaterThan(shortLimits.announcedMs + 2 * shortLimits.firstWorkerMs);
    expect(await front.fleet.state()).toMatchObject({ isRedisUp: false, nodes: undefined });
    expect((await local()).all).toBeUndefined();

    await redis.ask(...end);
    gate.resolve(transcript);
    expect(await Promise.all(answers)).toEqual([transcript, transcript]);
    await expect.poll(async () => (await local()).all).toEqual({ open: 0, running: 0, slots: 1 });
    expect(worker.fleet.notReady()).toEqual([]);
  });
});
