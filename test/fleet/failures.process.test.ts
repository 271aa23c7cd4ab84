/** What fails in a fleet, and what its callers notice. The tests share one fleet and build on each other. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { find, seriesOf } from '../metrics/support.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer, type RedisServer } from '../support/redis.ts';
import { processesWith } from '../support/processes.ts';
import { commitEvent, inputUpdate, openLiveSession, transcription } from '../support/realtime-client.ts';
import { openStream, readStream, typesOf } from '../transcription/support/stream.ts';
import {
  createGate,
  formOf,
  leftovers,
  soundOf,
  startFront,
  startWorker,
  transcribe,
  wordsOf,
  workerOf,
  type WorkerProcess,
} from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // many processes, on a machine that may be busy

describeWith(['redis-server'], 'in a fleet', () => {
  let redis: RedisServer;
  let front: Awaited<ReturnType<typeof startFront>>;
  let workers: WorkerProcess[];
  let probed: WorkerProcess;
  const add = async (env: Readonly<Record<string, string>> = {}) => {
    const worker = await startWorker({ url: redis.url, slots: 1, env: { SHUTDOWN_GRACE: '60', ...env } });
    workers.push(worker);
    return worker;
  };
  const kill = async (worker: WorkerProcess) => {
    worker.kill('SIGKILL');
    await worker.exit;
    workers = workers.filter((one) => one !== worker);
    await worker[Symbol.asyncDispose]();
  };

  beforeAll(async () => {
    workers = [];
    redis = await openRedisServer({ isThere: false });
    [front, probed] = await Promise.all([startFront({ url: redis.url }), add({ METRICS_PORT: '0' }), add()]);
  });
  afterAll(async () => {
    await Promise.all([front, ...workers, redis].map((one) => one[Symbol.asyncDispose]()));
  });

  test('a start without Redis serves everything but transcriptions, and those once Redis is available', async () => {
    expect((await fetch(`${front.url}/healthz`)).status).toBe(200);
    const chat = { messages: [{ role: 'user', content: 'Hello' }] };
    const headers = { 'content-type': 'application/json' };
    const chatted = await fetch(`${front.url}/api/v1/chat`, { method: 'POST', headers, body: JSON.stringify(chat) });
    expect(chatted.status).toBe(200);
    const availability = await fetch(`${front.url}/api/v1/transcribe`);
    expect(await availability.json()).toMatchObject({ available: true, code: 'busy' });
    const { status, body, retryAfter } = await transcribe(front, { say: 'too early' });
    expect([status, body.code, retryAfter]).toEqual([503, 'overloaded', '5']);

    const probes = await probesOf(probed);
    expect(await probes('/healthz')).toBe(200);
    expect(await probes('/readyz')).toBe(503);
    expect(await redisUp(probed)).toBe(0);

    await redis.start();
    await expect.poll(() => probes('/readyz')).toBe(200);
    await expect.poll(() => redisUp(probed)).toBe(1);
    await expect.poll(async () => (await transcribe(front, { say: 'now' })).status).toBe(200);
    await expect
      .poll(async () => (await fetch(`${front.url}/api/v1/transcribe`)).json())
      .toMatchObject({ code: 'ready' });
  });

  test('a call whose worker is killed succeeds on another one, which repeats no segment that was sent', async () => {
    const script = { say: 'in parts', ms: 900, segments: 3 };
    const { all, ...stream } = await openStream(front.url, formOf(script, { timestamps: 'segment' }));
    const worker = await workerOf(workers, script.say);
    await expect.poll(() => typesOf(stream.events)).toContain('segment.created');
    await kill(worker);
    const events = await all();
    const parts = events.flatMap((event) => (event.type === 'segment.created' ? [event.segment.text] : []));
    expect(parts).toEqual(['part0', 'part1', 'part2']);
    expect(events.at(-1)).toMatchObject({ type: 'transcription.completed', result: { text: wordsOf(script) } });
    await add();
  });

  test('a turn that kills three workers fails, and its session continues', async () => {
    await add();
    const session = await openLiveSession(front);
    session.say(inputUpdate({ format: { type: 'audio/pcm', rate: 16_000 }, turn_detection: null }));
    session.sound(soundOf({ say: 'deadly turn', ms: 60_000 }));
    session.say(commitEvent);
    for (let killed = 0; killed < 3; killed++) await kill(await workerOf(workers, 'deadly turn'));
    expect(await session.until(`${transcription}failed`)).toMatchObject([{ error: { type: 'server_error' } }]);
    await Promise.all([add(), add()]);
    session.sound(soundOf({ say: 'harmless turn' }));
    session.say(commitEvent);
    const [completed] = await session.until(`${transcription}completed`);
    expect(completed?.transcript).toMatch(/^harmless turn /);
    expect(session.events.some(({ type }) => type === 'error')).toBe(false);
  });

  test('an engine that reports invalid values in a timer fails only its own call', async () => {
    const script = { say: 'nonsense', misreports: true };
    const { answer, events } = await readStream(front.url, formOf(script, { timestamps: 'segment' }));
    // A call that had to wait for a worker has begun its answer, and fails in its last event.
    const last = events.at(-1);
    const problem = last?.type === 'transcription.failed' ? last.problem : answer.body;
    expect(problem).toMatchObject({ status: 500, code: 'engine-failed' });
    const worker = await workerOf(workers, script.say);
    await expect.poll(() => worker.log().some(({ msg, say }) => msg === 'ended' && say === script.say)).toBe(true);
    expect(workers.filter((one) => one.log().some(({ msg }) => msg.startsWith('exiting')))).toEqual([]);
  });

  test('a frozen worker is abandoned, and works again afterwards', async () => {
    const gate = await createGate();
    const script = { say: 'frozen', until: gate.until };
    const answer = transcribe(front, script);
    const frozen = await workerOf(workers, script.say);
    frozen.kill('SIGSTOP');
    await gate.open();
    expect(await answer).toMatchObject({ status: 200, body: { text: wordsOf(script) } });
    frozen.kill('SIGCONT');
    await expect.poll(() => frozen.log().some(({ msg, say }) => msg === 'ended' && say === script.say)).toBe(true);
    const atOnce = workers.map((_worker, index) => ({ say: `after the thaw ${index}`, ms: 500 }));
    await Promise.all(atOnce.map((one) => transcribe(front, one)));
    expect(frozen.log().map(({ say }) => String(say))).toContainEqual(expect.stringContaining('after the thaw'));
  });

  test('a worker that receives SIGTERM finishes its calls and takes no more', async () => {
    const gate = await createGate();
    const script = { say: 'the last of this worker', until: gate.until };
    const answer = transcribe(front, script);
    const stopping = await workerOf(workers, script.say);
    stopping.kill('SIGTERM');
    const others = [1, 2, 3].map((n) => transcribe(front, { say: `meanwhile ${n}` }));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await gate.open();
    expect(await answer).toMatchObject({ status: 200, body: { text: wordsOf(script) } });
    expect(await stopping.exit).toEqual({ code: 0, signal: null });
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(
      stopping
        .log()
        .filter(({ msg }) => msg === 'began')
        .at(-1),
    ).toMatchObject({ say: script.say });
    workers = workers.filter((worker) => worker !== stopping);
    await stopping[Symbol.asyncDispose]();
  });

  test('a worker that must stop at once returns its calls for other workers', async () => {
    const hurried = await add({ SHUTDOWN_GRACE: '0' });
    const gate = await createGate();
    const scripts = workers.map((_worker, index) => ({ say: `handed over ${index}`, until: gate.until }));
    const answers = scripts.map((script) => transcribe(front, script));
    await expect.poll(() => hurried.log().filter(({ msg }) => msg === 'began')).toHaveLength(1);
    hurried.kill('SIGTERM');
    expect(await hurried.exit).toEqual({ code: 0, signal: null });
    await gate.open();
    expect((await Promise.all(answers)).map(({ body }) => body.text)).toEqual(scripts.map(wordsOf));
    expect(front.log().map(({ msg }) => msg)).toContain('a worker returned a transcription');
    workers = workers.filter((worker) => worker !== hurried);
    await hurried[Symbol.asyncDispose]();
  });

  test('while Redis is unavailable, waiting callers are answered later, and new ones get a Retry-After', async () => {
    const gate = await createGate();
    const running = workers.map((_worker, index) => ({ say: `runs ${index}`, until: gate.until }));
    const answers = running.map((script) => transcribe(front, script));
    await Promise.all(running.map(({ say }) => workerOf(workers, say)));
    const waiting = { say: 'waits' };
    const waiter = await openStream(front.url, formOf(waiting));
    await expect.poll(() => typesOf(waiter.events)).toContain('transcription.queued');

    await redis.stop();
    const { status, body, retryAfter } = await transcribe(front, { say: 'comes now' });
    expect([status, body.code, retryAfter]).toEqual([503, 'overloaded', '5']);
    await gate.open();
    expect((await Promise.all(answers)).map(({ body }) => body.text)).toEqual(running.map(wordsOf));
    await redis.start();

    expect((await waiter.all()).at(-1)).toMatchObject({ result: { text: wordsOf(waiting) } });
    expect(await transcribe(front, { say: 'comes later' })).toMatchObject({ status: 200 });
  });

  test('a worker that has finished a call while Redis is unavailable exits on SIGTERM', async () => {
    const gate = await createGate();
    const script = { say: 'finished in an outage', until: gate.until };
    const answer = transcribe(front, script);
    const stopping = await workerOf(workers, script.say);
    await redis.stop();
    await gate.open();
    expect(await answer).toMatchObject({ status: 200, body: { text: wordsOf(script) } });
    stopping.kill('SIGTERM');
    expect(await stopping.exit).toEqual({ code: 0, signal: null });
    await redis.start();
    workers = workers.filter((worker) => worker !== stopping);
    await stopping[Symbol.asyncDispose]();
    await add();
    await expect.poll(async () => (await transcribe(front, { say: 'after the outage' })).status).toBe(200);
  });

  test('killing a front ends the calls of its workers', async () => {
    const script = { say: 'for a dead front', program: `for-a-dead-front-${process.pid}` };
    const broken = expect(transcribe(front, script)).rejects.toThrow();
    const worker = await workerOf(workers, script.say);
    await expect.poll(() => processesWith(script.program)).toHaveLength(1);
    front.kill('SIGKILL');
    await broken;
    await expect.poll(() => processesWith(script.program)).toEqual([]);
    await expect.poll(() => leftovers(workers)).toEqual([]);
    expect(worker.log().filter(({ level }) => level >= 60)).toEqual([]);
  });
});

/** The statuses of what a worker serves on METRICS_PORT. */
async function probesOf({ said }: WorkerProcess) {
  await expect.poll(() => said.stderr).toMatch(/Metrics +http/);
  const [, url] = /Metrics +(http\S+)\/metrics/.exec(said.stderr)!;
  return async (path: string) => (await fetch(`${url!}${path}`)).status;
}

async function redisUp({ said }: WorkerProcess) {
  const [, url = ''] = /Metrics +(http\S+)/.exec(said.stderr)!;
  return find(await seriesOf(url), 'parlance_fleet_redis_up').sum;
}
