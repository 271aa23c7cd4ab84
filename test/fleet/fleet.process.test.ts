/** Two fronts and two workers: every caller gets its answer, whoever does the work, and Redis learns nothing of it. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sign } from '../../src/fleet/signature.ts';
import { queueName, sealTicket } from '../../src/fleet/ticket.ts';
import type { ChildService } from '../support/child-service.ts';
import { processesWith } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { addJob, openRedisServer, type RedisServer } from '../support/redis.ts';
import { openStream, readStream, typesOf } from '../transcription/support/stream.ts';
import {
  formOf,
  leftovers,
  secret,
  startFront,
  startWorker,
  transcribe,
  wordsOf,
  workerOf,
  type Script,
  type WorkerProcess,
} from './support/fleet.ts';

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
  const ended = (say: string) =>
    workers.flatMap((worker) => worker.log().filter((line) => line.msg === 'ended' && line.say === say));

  test('answers each of 60 callers with the words of its own recording', async () => {
    const scripts = Array.from({ length: 60 }, (_, index) => ({ say: `memo-${index}`, ms: 20, padding: index * 1000 }));
    const answers = await Promise.all(scripts.map((script, index) => transcribe(fronts[index % 2]!, script)));
    expect(answers.map(({ status, body }) => [status, body.text])).toEqual(
      scripts.map((script) => [200, wordsOf(script)]),
    );
    const shares = workers.map((worker) => worker.log().filter(({ msg }) => msg === 'began').length);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares.reduce((sum, share) => sum + share)).toBe(60);
  });

  test('streams segments and progress while the worker is at work', async () => {
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

  test('reports the place in the line of all fronts', async () => {
    const long = ['a', 'b', 'c', 'd'].map((say) => ({ say: `occupies ${say}`, ms: 1500 }));
    const occupying = long.map((script, index) => transcribe(fronts[index % 2]!, script));
    await expect.poll(() => long.flatMap(({ say }) => begun(say)).length).toBe(4);
    const first = transcribe(fronts[1], { say: 'first in line' });
    await expect.poll(() => waitingIn(redis)).toBe(1);
    const { events } = await readStream(fronts[0].url, formOf({ say: 'second in line' }));
    const places = events.flatMap((event) => (event.type === 'transcription.queued' ? [event.ahead] : []));
    expect(places[0]).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: 'transcription.completed' });
    await Promise.all([first, ...occupying]);
  });

  test('passes the failure of an engine on, without trying again', async () => {
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

  test('takes a waiting ticket back when its caller disconnects', async () => {
    const occupying = [1, 2, 3, 4].map((n) => transcribe(fronts[0], { say: `busy ${n}`, ms: 1000 }));
    await expect.poll(() => [1, 2, 3, 4].flatMap((n) => begun(`busy ${n}`)).length).toBe(4);
    const stream = await openStream(fronts[0].url, formOf({ say: 'never heard' }));
    await expect.poll(() => waitingIn(redis)).toBe(1);
    stream.close();
    await expect.poll(() => waitingIn(redis)).toBe(0);
    await Promise.all(occupying);
    expect(begun('never heard')).toEqual([]);
  });

  test('answers 503 when no worker knows the model, after three have handed it back', async () => {
    const { status, body } = await transcribe(fronts[1], { say: 'too new' }, { model: 'new' });
    expect([status, body.code]).toEqual([503, 'model-unavailable']);
    const handedBack = fronts[1].log().filter(({ msg }) => msg === 'a worker has handed a transcription back');
    expect(handedBack).toHaveLength(3);
  });

  test('answers 503 while the memory of Redis is full, and works again afterwards', async () => {
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1mb');
    const { status, body, retryAfter } = await transcribe(fronts[0], { say: 'no room' });
    expect([status, body.code, retryAfter]).toEqual([503, 'overloaded', '5']);
    expect(JSON.stringify(fronts[0].log())).toContain('maxmemory');
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

    test('answers 410 for an address that is none, and 401 when the request comes again', async () => {
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
        res.writeHead(200).write('\n');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => server.close().closeAllConnections());
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/call`, lines };
    }

    test('of a later version is handed back', async () => {
      const { url, lines } = await listen();
      const ticket = sealTicket(secret, url, Date.now() + 60_000);
      await addJob(redis, queueName('scripted'), { ...ticket, v: 2, more: true });
      await expect.poll(() => lines.length).toBe(1);
      const messages = await Promise.race([text(lines[0]!), once(lines[0]!, 'end').then(() => '')]);
      expect(messages).toContain('"type":"returned"');
    });

    test.each([
      ['made with another secret', (url: string) => sealTicket('y'.repeat(32), url, Date.now() + 60_000)],
      ['that was changed', (url: string) => ({ ...sealTicket(secret, 'http://front/call', Date.now() + 60_000), url })],
      ['that is old', (url: string) => sealTicket(secret, url, Date.now() - 121_000)],
      ['that is none', () => ({ v: 1 })],
    ])('%s is dropped', async (_what, make) => {
      const { url, lines } = await listen();
      await addJob(redis, queueName('scripted'), make(url));
      expect(await transcribe(fronts[0], { say: 'behind it' })).toMatchObject({ status: 200 });
      expect(lines).toEqual([]);
    });
  });

  test('leaves nothing of a transcription in Redis, in a log or on a disk', async () => {
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
    // The engine of this test logs what it says; nobody else does.
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
