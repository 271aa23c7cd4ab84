/** A worker that cannot work, beside one that can. */
import { expect, test } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer } from '../support/redis.ts';
import { openNode, use } from './support/node.ts';

const transcript = { text: 'Hello.', language: 'en' };
/** Longer than a test. */
const timeouts = { pauseMs: 300_000, maxPauseMs: 300_000 };

describeWith(['redis-server'], 'in a fleet', () => {
  async function start() {
    const { url } = await use(openRedisServer());
    const front = await use(openNode({ url, role: 'front' }));
    /** Of all workers, as the node knows them. */
    const slots = async (node = front) => (await node.fleet.state()).engines[0]!.all?.slots;
    return { url, front, slots };
  }

  test('a worker with a full disk pauses, and its returned call waits for a worker with space', async () => {
    const { url, front, slots } = await start();
    const full = await use(openNode({ url, role: 'worker', diskBytes: 0, timeouts }));
    const isPaused = async () => (await full.fleet.state()).engines[0]!.isPaused;
    await expect.poll(() => slots()).toBe(1);
    expect(await isPaused()).toBe(false);

    const gate = Promise.withResolvers<typeof transcript>();
    await use(openNode({ url, role: 'worker', transcribe: () => gate.promise }));
    for (const node of [front, full]) await expect.poll(() => slots(node)).toBe(2);
    const answers = Array.from({ length: 16 }, () => front.transcribe());
    await expect.poll(isPaused).toBe(true);
    await expect.poll(() => slots()).toBe(1);
    gate.resolve(transcript);
    expect(await Promise.all(answers)).toEqual(Array(16).fill(transcript));
    expect(full.log).toContainEqual(
      expect.objectContaining({ level: 40, instance: 'local', code: 'storage-full', ms: timeouts.pauseMs }),
    );
    const handedBack = front.log.filter(({ msg }) => msg === 'a worker returned a transcription');
    expect(handedBack).toEqual([
      expect.objectContaining({ code: 'storage-full', worker: expect.any(String) as string }),
    ]);
  });

  test('a single worker with a full disk does not pause: every call is answered at once', async () => {
    const { url, front, slots } = await start();
    await use(openNode({ url, role: 'worker', diskBytes: 0, timeouts }));
    await expect.poll(() => slots()).toBe(1);
    for (let times = 0; times < 3; times++)
      await expect(front.transcribe()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('a worker whose program always fails pauses after two failures', async () => {
    const { url, front, slots } = await start();
    const fail = () => Promise.reject(new EngineError('engine-failed', 'The program failed.'));
    const failing = await use(openNode({ url, role: 'worker', transcribe: fail, timeouts }));
    const gate = Promise.withResolvers<typeof transcript>();
    await use(openNode({ url, role: 'worker', transcribe: () => gate.promise }));
    for (const node of [front, failing]) await expect.poll(() => slots(node)).toBe(2);
    const answers = Promise.allSettled(Array.from({ length: 16 }, () => front.transcribe()));
    await expect.poll(async () => (await failing.fleet.state()).engines[0]!.isPaused).toBe(true);
    gate.resolve(transcript);
    expect((await answers).filter(({ status }) => status === 'rejected')).toHaveLength(2);
  });

  test('a worker takes tickets again after its pause', async () => {
    const { url, front, slots } = await start();
    const outcomes = [() => Promise.reject(new EngineError('storage-full', 'Full.'))];
    const transcribe = () => outcomes.pop()?.() ?? Promise.resolve(transcript);
    const gate = Promise.withResolvers<typeof transcript>();
    await use(openNode({ url, role: 'worker', transcribe: () => gate.promise }));
    await expect.poll(() => slots()).toBe(1);
    const occupying = front.transcribe();
    await expect.poll(async () => (await front.fleet.state()).engines[0]!.all?.running).toBe(1);
    await use(openNode({ url, role: 'worker', transcribe, timeouts: { pauseMs: 100 } }));
    await expect.poll(() => slots()).toBe(2);
    expect(await front.transcribe()).toEqual(transcript);
    gate.resolve(transcript);
    await occupying;
  });

  test('a missing model does not pause a worker unless the same call comes back', async () => {
    const { url, front, slots } = await start();
    const lacking = () => Promise.reject(new EngineError('unknown-model', 'Unknown.'));
    const without = await use(openNode({ url, role: 'worker', transcribe: lacking, timeouts }));
    const gate = Promise.withResolvers<typeof transcript>();
    await use(openNode({ url, role: 'worker', transcribe: () => gate.promise }));
    for (const node of [front, without]) await expect.poll(() => slots(node)).toBe(2);
    const answers = Array.from({ length: 4 }, () => front.transcribe());
    await expect.poll(async () => (await without.fleet.state()).engines[0]!.isPaused).toBe(true);
    const handedBack = () => front.log.filter(({ msg }) => msg === 'a worker returned a transcription');
    await expect.poll(() => handedBack().length).toBeGreaterThan(1);
    gate.resolve(transcript);
    expect(await Promise.all(answers)).toEqual(Array(4).fill(transcript));
  });
});
