/** Two fronts and two workers: every caller gets its answer from any worker, and Redis holds nothing of it. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { sign } from '../../src/fleet/signature.ts';
import { queueName, sealTicket } from '../../src/fleet/ticket.ts';
import type { ChildService } from '../support/child-service.ts';
import { processesWith } from '../support/processes.ts';
import { freePort } from '../support/free-port.ts';
import { describeWith } from '../support/programs.ts';
import { addJob, openRedisServer, type RedisServer } from '../support/redis.ts';
import { startTestService } from '../support/service.ts';
import { commitEvent, openLiveSession, transcription } from '../support/realtime-client.ts';
import { openStream, readStream, typesOf } from '../transcription/support/stream.ts';
import {
  createGate,
  engineFile,
  formOf,
  leftovers,
  secret,
  soundOf,
  startFront,
  startWorker,
  statusAs,
  transcribe,
  wordsOf,
  workerOf,
  type Script,
  type WorkerProcess,
} from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // many processes, on a machine that may be busy

describeWith(['redis-server'], 'a fleet', () => {
  let redis: RedisServer;
  let fronts: readonly [Front, Front];
  let workers: readonly WorkerProcess[];
  type Front = ChildService & { readonly address: string };

  beforeAll(async () => {
    redis = await openRedisServer();
    const { url } = redis;
    // The second front is newer: it knows a model that the workers do not know.
    [fronts, workers] = await Promise.all([
      Promise.all([startFront({ url }), startFront({ url, models: ['scripted', 'new'] })]),
      Promise.all([startWorker({ url }), startWorker({ url })]),
    ]);
  });
  afterAll(async () => {
    await Promise.all([...fronts, ...workers, redis].map((one) => one[Symbol.asyncDispose]()));
  });

  const begun = (say: string) =>
    workers.flatMap((worker) => worker.log().filter((line) => line.msg === 'began' && line.say === say));
  const hasBegun = (worker: WorkerProcess, say: string) =>
    worker.log().some((line) => line.msg === 'began' && line.say === say);
  const ended = (say: string) =>
    workers.flatMap((worker) => worker.log().filter((line) => line.msg === 'ended' && line.say === say));

  test('answers each of 30 callers with the words of its own recording', async () => {
    const scripts = Array.from({ length: 30 }, (_, index) => ({ say: `memo-${index}`, ms: 20, padding: index * 1000 }));
    const answers = await Promise.all(scripts.map((script, index) => transcribe(fronts[index % 2]!, script)));
    expect(answers.map(({ status, body }) => [status, body.text])).toEqual(
      scripts.map((script) => [200, wordsOf(script)]),
    );
    const shares = workers.map((worker) => worker.log().filter(({ msg }) => msg === 'began').length);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares.reduce((sum, share) => sum + share)).toBe(30);
  });

  test('a client secret of one front opens a session at the other, whose turns any worker transcribes', async () => {
    const input = { format: { type: 'audio/pcm', rate: 16_000 }, turn_detection: null };
    const response = await fetch(`${fronts[0].url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session: { type: 'transcription', audio: { input } } }),
    });
    const { value } = (await response.json()) as { readonly value: string };
    const session = await openLiveSession(fronts[1], '', value);
    expect(session.events[0]?.session).toMatchObject({ audio: { input } });
    session.sound(soundOf({ say: 'live' }));
    session.say(commitEvent);
    const [completed] = await session.until(`${transcription}completed`);
    expect(completed?.transcript).toMatch(/^live /);
  });

  test('streams segments and progress while the worker transcribes', async () => {
    const script = { say: 'in parts', ms: 300, segments: 3 };
    const { events } = await readStream(fronts[0].url, formOf(script, { timestamps: 'segment' }));
    expect(typesOf(events).filter((type) => type === 'segment.created')).toHaveLength(3);
    expect(typesOf(events)).toContain('transcription.progress');
    const segments = [0, 1, 2].map((n) => ({ start_ms: n * 10, end_ms: n * 10 + 10, text: `part${n}` }));
    expect(events.at(-1)).toMatchObject({
      type: 'transcription.completed',
      result: { text: wordsOf(script), segments },
    });
  });

  /** Keeps all workers busy until the gate opens. */
  async function occupy() {
    const gate = await createGate();
    const scripts = [1, 2, 3, 4].map((n) => ({ say: `occupies ${n} ${gate.until}`, until: gate.until }));
    const answers = scripts.map((script, index) => transcribe(fronts[index % 2]!, script));
    await expect.poll(() => scripts.flatMap(({ say }) => begun(say)).length).toBe(4);
    return { open: gate.open, answers };
  }

  test('uses all slots of all workers, and no more', async () => {
    const gate = await createGate();
    const scripts = Array.from({ length: 24 }, (_, index) => ({ say: `side by side ${index}`, until: gate.until }));
    const answers = scripts.map((script, index) => transcribe(fronts[index % 2]!, script));
    const callsOfWorkers = () => workers.map((worker) => scripts.filter(({ say }) => hasBegun(worker, say)).length);
    await expect.poll(callsOfWorkers).toEqual([2, 2]);
    await expect.poll(() => waitingIn(redis)).toBe(20);
    expect(callsOfWorkers()).toEqual([2, 2]);
    await gate.open();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(24).fill(200));
  });

  test('reports the position in the queue of all fronts', async () => {
    const { open, answers } = await occupy();
    const first = transcribe(fronts[1], { say: 'first in line' });
    await expect.poll(() => waitingIn(redis)).toBe(1);
    const stream = await openStream(fronts[0].url, formOf({ say: 'second in line' }));
    const places = () => stream.events.flatMap((event) => (event.type === 'transcription.queued' ? [event.ahead] : []));
    await expect.poll(places).toEqual([1]);
    await open();
    expect((await stream.all()).at(-1)).toMatchObject({ type: 'transcription.completed' });
    expect((await Promise.all([first, ...answers])).map(({ status }) => status)).toEqual(Array(5).fill(200));
  });

  test('serves a new caller before the waiting calls of a busy one at another front', async () => {
    const greedy = Array.from({ length: 16 }, (_, index) =>
      statusAs('127.0.0.2', fronts[0], { say: `greedy ${index}`, ms: 400 }),
    );
    await expect.poll(() => waitingIn(redis)).toBe(12);
    const quiet = await statusAs('127.0.0.3', fronts[1], { say: 'quiet' });
    expect([quiet, ...(await Promise.all(greedy))]).toEqual(Array(17).fill(200));
    const started = workers
      .flatMap((worker) => worker.log())
      .filter(({ msg, say }) => msg === 'began' && /greedy|quiet/.test(String(say)));
    const order = started.toSorted((a, b) => Number(a.time) - Number(b.time)).map(({ say }) => say);
    // Four were running when it came, and the next four may have been taken just before.
    expect(order.indexOf('quiet')).toBeLessThanOrEqual(8);
  });

  test('a single caller may have as many open calls as slots and places in the queue, across both fronts', async () => {
    const caller = new AbortController();
    const refused: number[] = [];
    const calls = Array.from({ length: 75 }, async (_, index) => {
      const status = await statusAs('127.0.0.4', fronts[index % 2]!, { say: 'many', ms: 60_000 }, caller.signal);
      refused.push(status);
    });
    await expect.poll(() => refused).toEqual(Array(75 - 4 - 64).fill(503));
    const newcomer = statusAs('127.0.0.5', fronts[0], { say: 'a newcomer', ms: 60_000 }, caller.signal);
    await expect.poll(() => waitingIn(redis)).toBe(64 + 1);
    caller.abort();
    await Promise.allSettled([...calls, newcomer]);
    expect(refused).toHaveLength(75 - 4 - 64);
    await expect.poll(() => waitingIn(redis)).toBe(0);
  });

  test('forwards the failure of an engine without a retry', async () => {
    const { status, body } = await transcribe(fronts[0], { say: 'broken', fail: 'recording-undecodable' });
    expect([status, body.code, body.detail]).toEqual([422, 'recording-undecodable', 'It failed.']);
    expect(begun('broken')).toHaveLength(1);
  });

  test('ends the program of a worker when its caller disconnects, and leaves nothing on any disk', async () => {
    const programs = [0, 1, 2, 3].map((n) => `of-a-caller-who-leaves-${process.pid}-${n}`);
    const caller = new AbortController();
    const left = programs.map((program, index) => {
      const answer = transcribe(fronts[index % 2]!, { say: program, program }, { signal: caller.signal });
      return expect(answer).rejects.toThrow();
    });
    const alive = () => programs.flatMap((program) => processesWith(program));
    await expect.poll(() => alive().length).toBe(4);
    caller.abort();
    await expect.poll(alive).toEqual([]);
    await Promise.all(left);
    await expect.poll(() => leftovers([...fronts, ...workers])).toEqual([]);
    await expect.poll(() => ended(programs[0]!).map(({ isAborted }) => isAborted)).toEqual([true]);
  });

  test('removes a waiting ticket when its caller disconnects', async () => {
    const { open, answers } = await occupy();
    const stream = await openStream(fronts[0].url, formOf({ say: 'never transcribed' }));
    await expect.poll(() => waitingIn(redis)).toBe(1);
    stream.close();
    await expect.poll(() => waitingIn(redis)).toBe(0);
    await open();
    await Promise.all(answers);
    expect(begun('never transcribed')).toEqual([]);
  });

  test('answers 503 after every worker has returned a call for an unknown model', async () => {
    const { status, body } = await transcribe(fronts[1], { say: 'too new' }, { model: 'new' });
    expect([status, body.code]).toEqual([503, 'model-unavailable']);
    const handedBack = () => fronts[1].log().filter(({ msg }) => msg === 'a worker returned a transcription');
    await expect.poll(() => new Set(handedBack().map(({ worker }) => worker)).size).toBe(2);
  });

  test('answers 503 while the memory of Redis is full, and works again afterwards', async () => {
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1mb');
    const { status, body, retryAfter } = await transcribe(fronts[0], { say: 'no room' });
    expect([status, body.code, retryAfter]).toEqual([503, 'overloaded', '5']);
    await expect.poll(() => JSON.stringify(fronts[0].log())).toContain('maxmemory');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    expect(await transcribe(fronts[0], { say: 'room' })).toMatchObject({ status: 200 });
  });

  describe('the fleet port', () => {
    const path = '/fleet/v1/calls/0123456789abcdefghijkl';
    const ask = async (authorization?: string, method = 'GET') => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await fetch(`${fronts[0].address}${path}`, { method, headers })).status;
    };
    const signed = (over: { method?: string; url?: string; secret?: string; now?: number } = {}) => {
      const { method = 'GET', url = `${fronts[0].address}${path}`, now = Date.now() } = over;
      return sign(over.secret ?? secret, { method, url }, now);
    };

    test.each([
      ['nothing', () => undefined],
      ['another secret', () => signed({ secret: 'x'.repeat(32) })],
      ['another method', () => signed({ method: 'POST' })],
      ['another path', () => signed({ url: `${fronts[0].address}/fleet/v1/calls/x` })],
      ['another front', () => signed({ url: `${fronts[1].address}${path}` })],
      ['three minutes ago', () => signed({ now: Date.now() - 181_000 })],
    ])('answers 401 to a request signed with or for %s', async (_what, authorization) => {
      expect(await ask(authorization())).toBe(401);
    });

    test('answers 410 for an unknown address, and 401 to a replayed request', async () => {
      const authorization = signed();
      expect(await ask(authorization)).toBe(410);
      expect(await ask(authorization)).toBe(401);
    });
  });

  describe('a ticket', () => {
    /** Lines that workers open to an address that is no front's. */
    async function listen() {
      const lines: IncomingMessage[] = [];
      const server = createServer((req, res) => {
        lines.push(req);
        res.writeHead(200).write('{"type":"alive"}\n');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => server.close().closeAllConnections());
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/call`, lines };
    }

    test('of a later version is returned', async () => {
      const { url, lines } = await listen();
      const ticket = sealTicket(secret, url, Date.now() + 60_000);
      await addJob(redis, queueName('scripted'), { ...ticket, v: 2, more: true });
      await expect.poll(() => lines.length).toBe(1);
      const messages = await text(lines[0]!);
      expect(messages).toContain('"type":"returned"');
    });

    test.each([
      ['made with another secret', (url: string) => sealTicket('y'.repeat(32), url, Date.now() + 60_000)],
      ['that was changed', (url: string) => ({ ...sealTicket(secret, 'http://front/call', Date.now() + 60_000), url })],
      ['that is old', (url: string) => sealTicket(secret, url, Date.now() - 121_000)],
      ['that is not valid', () => ({ v: 1 })],
    ])('%s is dropped', async (_what, make) => {
      const { url, lines } = await listen();
      await addJob(redis, queueName('scripted'), make(url));
      expect(await transcribe(fronts[0], { say: 'behind it' })).toMatchObject({ status: 200 });
      expect(lines).toEqual([]);
    });
  });

  describe('a node of its own fleet', () => {
    const alone = async () => ({
      FLEET_URL: redis.url,
      FLEET_SECRET: secret,
      FLEET_PREFIX: 'alone',
      FLEET_ADDRESS: `http://127.0.0.1:${await freePort()}`,
    });
    const settings = {
      config: 'engines: { scripted: { use: ./scripted.mjs } }\n',
      files: { 'scripted.mjs': engineFile },
    };

    test('is front and worker, and finishes running calls after SIGTERM', async () => {
      await using node = await startTestService({ ...settings, env: await alone() });
      const script = { say: 'alone', ms: 500 };
      const answer = transcribe(node, script);
      await expect.poll(() => node.log.some(({ msg, say }) => msg === 'began' && say === 'alone')).toBe(true);
      const stopped = node.service.stop(60_000);
      expect(await answer).toMatchObject({ status: 200, body: { text: wordsOf(script) } });
      await stopped;
    });

    test('does not start on a Redis that evicts keys, nor where recordings would travel in clear text', async () => {
      const start = async (env: Readonly<Record<string, string>> = {}) =>
        startTestService({ ...settings, env: { ...(await alone()), ...env } });
      await expect(start({ FLEET_ADDRESS: 'http://8.8.8.8:1' })).rejects.toThrow(/^FLEET_ADDRESS: recordings would/);
      await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      await expect(start()).rejects.toThrow(/^FLEET_URL: the maxmemory-policy of Redis is allkeys-lru/);
      await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    });
  });

  test('leaves no text of a transcription in Redis, in a log or on a disk', async () => {
    const marker = 'a-word-that-is-nowhere-else';
    const scripts: Script[] = Array.from({ length: 20 }, (_, index) => ({ say: `${marker}-${index}`, ms: 5 }));
    const caller = new AbortController();
    const leaving = transcribe(
      fronts[0],
      { say: marker, program: `${marker}-${process.pid}` },
      { signal: caller.signal },
    );
    const left = expect(leaving).rejects.toThrow();
    const answers = await Promise.all(scripts.map((script, index) => transcribe(fronts[index % 2]!, script)));
    expect(answers.map(({ status }) => status)).toEqual(scripts.map(() => 200));
    await workerOf(workers, marker);
    caller.abort();
    await left;
    await expect.poll(() => leftovers([...fronts, ...workers])).toEqual([]);

    await expect.poll(() => keysOf(redis)).not.toEqual([]);
    await redis.ask('CONFIG', 'SET', 'rdbcompression', 'no');
    await redis.ask('SAVE');
    const snapshot = await Promise.all(
      (await readdir(redis.dir)).map((name) => readFile(join(redis.dir, name), 'latin1')),
    );
    expect(snapshot.join('')).toContain('parlance');
    expect(snapshot.join('')).not.toMatch(new RegExp(`${marker}|127\\.0\\.0\\.1.{0,40}/call\\b`));
    expect(await keysOf(redis)).not.toContainEqual(expect.stringMatching(/\.\d+$/)); // no job is left
    // The engine of this test logs what it says; no one else does.
    const said = [...fronts, ...workers].flatMap((node) => node.log()).filter((line) => line.engine !== 'scripted');
    expect(JSON.stringify(said)).not.toContain(marker);
    expect(JSON.stringify(said)).not.toContain('/fleet/v1/calls/');
  });
});

async function keysOf(redis: RedisServer): Promise<string[]> {
  return (await redis.ask('KEYS', '*')) as string[];
}

async function waitingIn(redis: RedisServer): Promise<unknown> {
  return redis.ask('ZCARD', `parlance:${queueName('scripted')}:prioritized`);
}
