/** A clip is on the disk of the front that made it, and is played and deleted through any front. */
import { readdir, readlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { sign } from '../../src/fleet/signature.ts';
import { open, scriptedEngines, sound, startReading, type SpeechServiceOptions } from '../speech/support.ts';
import { spawnService } from '../support/child-service.ts';
import { freePort } from '../support/free-port.ts';
import { createApi } from '../support/http.ts';
import { nextRequest } from '../support/next-request.ts';
import { describeWith } from '../support/programs.ts';
import { openRedisServer, type RedisServer } from '../support/redis.ts';
import { startTestService, type LogLine, type TestService } from '../support/service.ts';
import { secret } from './support/fleet.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clips = '/api/v1/tts/clips';

interface Front extends TestService {
  readonly address: string;
}

describeWith(['redis-server'], 'a clip of another front', () => {
  let redis: RedisServer;
  let owner: Front;
  let other: Front;

  const startFront = async (options: SpeechServiceOptions = {}): Promise<Front> => {
    const { env, address } = await frontSettings(redis);
    return { ...(await startTestService({ ...scriptedEngines(), ...options, env })), address };
  };

  beforeAll(async () => {
    redis = await openRedisServer();
    owner = await startFront();
    other = await startFront();
  });
  afterAll(async () => {
    await Promise.all([owner, other, redis].map((one) => one[Symbol.asyncDispose]()));
  });

  const get = (path: string, headers: Record<string, string> = {}) => createApi(other.url).get(path, headers);

  /** Resolves when the other front knows this one, which announces itself after its start. */
  async function isKnown(front: { readonly url: string }): Promise<void> {
    const { url } = (await createdBy(front.url, '150')) as Schemas['Audio'];
    await expect.poll(async () => (await get(url)).status, { timeout: 20_000 }).toBe(200);
  }

  async function complete(front: Front = owner): Promise<{ url: string; etag: string }> {
    const { url } = await create(front, '150');
    const etag = async () => (await createApi(other.url).send('HEAD', url)).headers.get('etag'); // once it knows the owner
    await expect.poll(etag).not.toBeNull();
    return { url, etag: (await etag())! };
  }

  test('has an id that contains the tag of its front, but no host name', async () => {
    const { id, url } = await create(owner, '150');
    expect(id).toMatch(/^[\da-f]{8}\.[\w-]{22}$/);
    expect(url).toBe(`${clips}/${id}`);
  });

  test('is served by another front as by its owner', async () => {
    const { url } = await complete();
    const [there, here] = await Promise.all([createApi(owner.url).get(url), get(url)]);
    expect(here).toMatchObject({ status: 200, text: sound(0, 150) });
    for (const name of ['content-type', 'content-length', 'accept-ranges', 'etag', 'cache-control'])
      expect([name, here.headers.get(name)]).toEqual([name, there.headers.get(name)]);
  });

  test('supports range requests', async () => {
    const { url, etag } = await complete();
    const part = await get(url, { Range: 'bytes=40-49', 'If-Range': etag });
    expect(part).toMatchObject({ status: 206, text: sound(40, 10) });
    expect(part.headers.get('content-range')).toBe('bytes 40-49/150');
    const beyond = await get(url, { Range: 'bytes=150-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */150']);
  });

  test('answers HEAD', async () => {
    const { url } = await complete();
    const { status, headers, text } = await createApi(other.url).send('HEAD', url);
    expect([status, headers.get('content-length'), text]).toEqual([200, '150', '']);
    await expect.poll(() => openFiles(owner)).toEqual([]);
  });

  test('can be played while it is synthesized', async () => {
    const { url } = await create(owner, '100 gate:one 50');
    const reading = await startReading(other.url + url);
    expect(reading.response.headers).toMatchObject({ 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' });
    await expect.poll(() => reading.received).toBe(sound(0, 100));
    let isAnswered = false;
    const asked = nextRequest({ url: owner.address });
    const part = get(url, { Range: 'bytes=0-1' }).finally(() => (isAnswered = true));
    await asked;
    expect(isAnswered).toBe(false);
    await open(owner, 'one');
    expect(await reading.ended).toBe('whole');
    expect(reading.received).toBe(sound(0, 150));
    expect(await part).toMatchObject({ status: 206, text: sound(0, 2) });
  });

  test('breaks the connection when its synthesis fails', async () => {
    const { url } = await create(owner, '100 gate:two fail');
    const reading = await startReading(other.url + url);
    await expect.poll(() => reading.received).toBe(sound(0, 100));
    await open(owner, 'two');
    expect(await reading.ended).toBe('broken');
    expect((await get(url)).problem.code).toBe('clip-not-found');
  });

  test('loses its reader when the caller disconnects', async () => {
    const { url } = await create(owner, '100 hang');
    const reading = await startReading(other.url + url);
    await expect.poll(() => openFiles(owner)).toHaveLength(2); // the writer's and the reader's
    reading.leave();
    await expect.poll(() => openFiles(owner)).toHaveLength(1);
    await createApi(owner.url).send('DELETE', url);
  });

  test('is deleted on all fronts', async () => {
    const { url } = await create(owner, '100 hang');
    const readings = await Promise.all([owner, other].map((front) => startReading(front.url + url)));
    const before = { ended: ended(owner), files: (await owner.leftovers()).length };
    expect((await createApi(other.url).send('DELETE', url)).status).toBe(204);
    expect(await Promise.all(readings.map((reading) => reading.ended))).toEqual(['broken', 'broken']);
    await expect.poll(() => ended(owner)).toBe(before.ended + 1);
    for (const front of [owner, other])
      for (const method of ['GET', 'HEAD', 'DELETE'])
        expect((await createApi(front.url).send(method, url)).status).toBe(404);
    expect(await owner.leftovers()).toHaveLength(before.files - 2); // its directory and its audio
    expect(other.log.filter(({ level }) => level >= 50)).toEqual([]);
    const [, id = ''] = /\.([\w-]{22})$/.exec(url) ?? []; // to know it is the permission to read it
    expect(JSON.stringify([owner.log, other.log])).not.toContain(id);
  });

  test('does not expire while another front reads it', async () => {
    await using impatient = await startFront({ clipUnreadMs: 200 });
    await isKnown(impatient);
    const { url } = await create(impatient, '100 gate:three 50');
    const reading = await startReading(other.url + url);
    await create(impatient, '100 hang');
    await expect.poll(() => ended(impatient)).toBe(1);
    await open(impatient, 'three');
    expect(await reading.ended).toBe('whole');
  });

  test('is requested once, and the request is logged where it was received', async () => {
    const { url } = await complete();
    const { headers } = await get(url);
    const requestId = headers.get('x-request-id');
    // Of this request: those of earlier ones may be logged late.
    const isIts = ({ msg, path, id }: LogLine) => msg === 'request' && path === `${clips}/{id}` && id === requestId;
    const lines = () => [owner, other].map(({ log }) => log.filter(isIts));
    await expect.poll(lines).toMatchObject([[{ level: 20 }], [{ level: 30, status: 200 }]]);
  });

  test('is served on the fleet port to signed requests for it, each once', async () => {
    const { url } = await complete();
    const port = rawPort(owner.address);
    const { ask } = port;
    for (const key of [undefined, 'x'.repeat(32)]) {
      expect([await ask('GET', url, key), await ask('DELETE', url, key)]).toEqual([401, 401]);
      expect(await ask('GET', '/api/v1/unknown', key)).toBe(401);
    }
    expect(await ask('GET', url, secret)).toBe(200);
    expect(await port.again(), 'a replay').toBe(401);
    expect(await ask('GET', url, secret, { 'x-parlance-key': 'admin' }), 'with the name of a key').toBe(401);
    const { url: others } = await create(other, '150');
    expect(await ask('GET', others, secret), 'of another front: it is not forwarded again').toBe(404);
    for (const [method, path] of [
      ['GET', '/api/v1/tts/models'],
      ['POST', clips],
      ['POST', '/v1/chat/completions'],
      ['GET', '/fleet/v1/clips/x'],
    ] as const)
      expect([path, await ask(method, path, secret)]).toEqual([path, path.startsWith('/fleet/') ? 410 : 404]);
  });

  test('of a killed front is not found once the announcement of the front has expired', async () => {
    const seen: string[] = [];
    await using elsewhere = await listen((url) => seen.push(url));
    const { env } = await frontSettings(redis);
    const killed = await spawnService({ ...scriptedEngines(), env });
    await isKnown(killed);
    const { url } = (await createdBy(killed.url, '150')) as Schemas['Audio'];
    expect(await get(url)).toMatchObject({ status: 200, text: sound(0, 150) });
    await killed[Symbol.asyncDispose]();
    const { status, headers, problem } = await get(url);
    expect([status, headers.get('retry-after'), problem.code]).toEqual([503, '5', 'overloaded']);

    // A writer to Redis cannot direct requests elsewhere.
    const tag = url.split('/').at(-1)!.slice(0, 8);
    const node = `${hostname()}-${tag}`;
    const announced = JSON.parse(String(await redis.ask('GET', `parlance:node:${node}`))) as object;
    const forged = JSON.stringify({ ...announced, facts: JSON.stringify({ address: elsewhere.url }) });
    await redis.ask('SET', `parlance:node:${node}`, forged);
    await redis.ask('SET', `parlance:node:evil-${tag}`, forged);
    await redis.ask('SADD', 'parlance:nodes', `evil-${tag}`);
    await expect.poll(async () => (await get(url)).status).toBe(404);
    expect((await createApi(other.url).send('DELETE', url)).status).toBe(404);
    expect(seen).toEqual([]);
  });

  test('of a stopped front is not found', async () => {
    const stopped = await startFront();
    const { url } = await complete(stopped);
    expect((await get(url)).status).toBe(200);
    await stopped[Symbol.asyncDispose]();
    await expect.poll(async () => (await get(url)).status).toBe(404);
  });

  test('can be played while Redis is unavailable; that of an unknown front is overloaded, not missing', async () => {
    const { url } = await complete();
    expect((await get(url)).status).toBe(200);
    await redis.stop();
    expect((await get(url)).status).toBe(200);
    const { status, headers } = await get(`${clips}/01234567.${'A'.repeat(22)}`);
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    await redis.start();
    await expect.poll(async () => (await get(`${clips}/01234567.${'A'.repeat(22)}`)).status).toBe(404);
  });
});

async function frontSettings({ url }: RedisServer) {
  const address = `http://127.0.0.1:${await freePort()}`;
  return {
    address,
    env: { FLEET_URL: url, FLEET_SECRET: secret, FLEET_ROLE: 'front', FLEET_ADDRESS: address },
  };
}

/** Asks the fleet port as no front does. */
function rawPort(address: string) {
  let last: () => Promise<number>;
  return {
    ask(method: string, path: string, key?: string, headers: Record<string, string> = {}) {
      const url = address + path;
      const authorization = key && sign(key, { method, url }, Date.now());
      const init = { method, headers: { ...headers, ...(authorization && { authorization }) } };
      last = async () => (await fetch(url, init)).status;
      return last();
    },
    again: () => last(),
  };
}

async function createdBy(url: string, text: string): Promise<unknown> {
  const { status, body } = await createApi(url).post(clips, { text });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

const create = async ({ url }: Front, text: string) => (await createdBy(url, text)) as Schemas['Audio'];

/** The files of clips that this process, which has the fronts, holds open. */
async function openFiles({ dir }: TestService): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.startsWith(dir) && path.includes('/clip-'));
}

/** Syntheses that were ended before they were complete. */
const ended = ({ log }: TestService) => log.filter(({ msg }) => msg === 'ended').length;

/** A server that is no node of the fleet. */
async function listen(onRequest: (url: string) => void) {
  const server = createServer((req, res) => {
    onRequest(req.url ?? '');
    res.end();
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => Promise.resolve(void server.close()) };
}
