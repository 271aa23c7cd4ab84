/** Recordings pass through a front to a worker in pieces: none is held in memory. */
import { expect, test, vi } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openRedisServer } from '../support/redis.ts';
import { startFront, startWorker, transcribe } from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['redis-server'], 'the memory of a front', () => {
  test('grows by less than half of the recordings that pass through it at once', async () => {
    await using redis = await openRedisServer();
    const options = { url: redis.url, slots: 8 };
    await using front = await startFront(options);
    await using _worker = await startWorker(options);
    const megabytes = 1e6;
    const send = (count: number, padding: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => transcribe(front, { say: `memo ${index}`, padding })));
    await send(8, megabytes);
    const before = front.memory().peak;
    const answers = await send(8, 25 * megabytes);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(front.memory().peak - before).toBeLessThan(100 * megabytes);
  });
});
