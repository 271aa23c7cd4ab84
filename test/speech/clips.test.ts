/** A clip over HTTP: while it is being made, when it is complete, and after it was removed. */
import { readdir, readlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type Answer } from '../support/http.ts';
import { until } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import { addressOf, makeClip, open, openSpeechService, sound, startReading, startSpeechService } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };

async function growing(script: string, options = {}): Promise<{ service: TestService; clip: string; url: string }> {
  const service = await startSpeechService(options);
  const clip = await makeClip(service, script);
  return { service, clip, url: addressOf(service, clip) };
}

async function complete(service: TestService, bytes = 150) {
  const clip = await makeClip(service, String(bytes));
  const api = createApi(service.url);
  const get = (headers: Record<string, string> = {}) => api.get(`/api/v1${clip}`, headers);
  await expect.poll(async () => (await get()).headers.get('etag'), patience).toMatch(/^"[\w-]{43}"$/);
  return { clip, get, api };
}

function shown({ status, headers, text }: Answer) {
  return { status, range: headers.get('content-range'), length: headers.get('content-length'), text };
}

describe('a growing clip', () => {
  test.each([{}, { Range: 'bytes=0-' }, { Range: 'bytes=5-9', 'If-Range': '"of-another-time"' }])(
    'is heard from its first byte on (%o)',
    async (headers) => {
      const { service, url } = await growing('100 gate:go 50');
      const reading = await startReading(url, { headers });
      expect(reading.response.statusCode).toBe(200);
      expect(reading.response.headers).toMatchObject({
        'content-type': 'audio/mpeg',
        'transfer-encoding': 'chunked',
        'x-parlance-synthetic': 'true',
      });
      expect(reading.response.headers.etag).toBeUndefined();
      await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
      await open(service, 'go');
      expect(await reading.ended).toBe('whole');
      expect(reading.received).toBe(sound(0, 150));
    },
  );

  test('serves two readers at their own pace', async () => {
    const { service, url } = await growing('100 gate:go 50 gate:on 7');
    const first = await startReading(url);
    await expect.poll(() => first.received, patience).toBe(sound(0, 100));
    await open(service, 'go');
    await expect.poll(() => first.received, patience).toBe(sound(0, 150));
    const second = await startReading(url);
    await expect.poll(() => second.received, patience).toBe(sound(0, 150));
    await open(service, 'on');
    expect([await first.ended, await second.ended]).toEqual(['whole', 'whole']);
    expect([first.received, second.received]).toEqual([sound(0, 157), sound(0, 157)]);
  });

  test('is unaffected by a reader that disconnects, and closes its file', async () => {
    const { service, url } = await growing('100 gate:go 50');
    const [staying, leaving] = [await startReading(url), await startReading(url)];
    await expect.poll(() => leaving.received, patience).toBe(sound(0, 100));
    await expect.poll(() => openFiles(service)).toHaveLength(3); // the writer's and two readers'
    leaving.leave();
    await until('its file is closed', async () => (await openFiles(service)).length === 2, 250);
    await open(service, 'go');
    expect(await staying.ended).toBe('whole');
    expect(staying.received).toBe(sound(0, 150));
    await expect.poll(() => openFiles(service)).toEqual([]);
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  test('is not blocked by a slow reader, which costs no memory', async () => {
    const mebibyte = 1024 * 1024;
    const pieces = Array.from({ length: 24 }, () => String(mebibyte));
    const { service, url, clip } = await growing(['10', 'gate:go', ...pieces].join(' '));
    const slow = await startReading(url);
    slow.response.pause();
    await open(service, 'go');
    const api = createApi(service.url);
    const length = async () => (await api.send('HEAD', `/api/v1${clip}`)).headers.get('content-length');
    await expect.poll(length, patience).toBe(String(10 + 24 * mebibyte));
    expect(slow.response.readableLength + slow.received.length).toBeLessThan(mebibyte);
    slow.response.resume();
    expect(await slow.ended).toBe('whole');
    expect(slow.received).toHaveLength(10 + 24 * mebibyte);
  });

  test.each(['bytes=0-1', 'bytes=-10', 'bytes=5-'])(
    'keeps who asks for %s waiting until it is complete',
    async (Range) => {
      const { service, url } = await growing('100 gate:go 50');
      const expected = { 'bytes=0-1': sound(0, 2), 'bytes=-10': sound(140, 10), 'bytes=5-': sound(5, 145) }[Range];
      let answered = false;
      const waiting = startReading(url, { headers: { Range } }).finally(() => (answered = true));
      const whole = await startReading(url);
      await expect.poll(() => whole.received, patience).toBe(sound(0, 100));
      expect(answered).toBe(false);
      await open(service, 'go');
      const part = await waiting;
      expect(await part.ended).toBe('whole');
      expect({ status: part.response.statusCode, text: part.received }).toEqual({ status: 206, text: expected });
    },
  );

  test('is a broken transfer, not a truncated success, when its synthesis fails', async () => {
    const { service, url, clip } = await growing('100 gate:go 50 fail');
    const reading = await startReading(url);
    const held = startReading(url, { headers: { Range: 'bytes=0-1' } });
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await open(service, 'go');
    expect(await reading.ended).toBe('broken');
    expect((await held).response.statusCode).toBe(404);
    expect((await createApi(service.url).get(`/api/v1${clip}`)).problem).toMatchObject({ code: 'clip-not-found' });
    const id = reading.response.headers['x-request-id'];
    await expect
      .poll(() => service.log.find((line) => line.id === id && line.level === 50))
      .toMatchObject({
        operation: 'getSpeechClip',
        code: 'provider-error',
      });
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  test('fails at once for lagging readers, too', async () => {
    const { service, url } = await growing('10 gate:go 30000000 gate:on fail');
    const slow = await startReading(url);
    slow.response.pause();
    await open(service, 'go');
    await expect.poll(async () => (await service.leftovers()).length, patience).toBeGreaterThan(0);
    await open(service, 'on');
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
    slow.response.resume();
    expect(await slow.ended).toBe('broken');
    expect(slow.received.length).toBeLessThan(30_000_000);
  });

  test('ends with the service, including its readers', async () => {
    const { service, url } = await growing('100 hang');
    const reading = await startReading(url);
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await service.service.stop(0);
    expect(await reading.ended).toBe('broken');
    expect(await readdir(`${service.dir}/data/tmp`)).toEqual([]);
    expect(service.log.filter(({ msg }) => msg === 'ended')).toHaveLength(1);
  });
});

describe('a complete clip', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await openSpeechService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('has Content-Length, ETag, media type and private caching', async () => {
    const { get } = await complete(service);
    const { status, headers, text } = await get();
    expect({ status, text }).toEqual({ status: 200, text: sound(0, 150) });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': '150',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-transform, max-age=600',
      etag: expect.stringMatching(/^"[\w-]{43}"$/) as unknown,
    });
  });

  test('answers HEAD like GET, without the body and without the range', async () => {
    const { clip, api } = await complete(service);
    const { status, headers, text } = await api.send('HEAD', `/api/v1${clip}`, { headers: { Range: 'bytes=0-1' } });
    expect({ status, length: headers.get('content-length'), text }).toEqual({ status: 200, length: '150', text: '' });
    expect(headers.get('content-range')).toBeNull();
    await expect.poll(() => openFiles(service)).toEqual([]);
  });

  test.each([
    ['bytes=0-', 0, 149],
    ['bytes=0-1', 0, 1],
    ['bytes=40-49', 40, 49],
    ['bytes=149-149', 149, 149],
    ['bytes=100-', 100, 149],
    ['bytes=100-9999', 100, 149],
    ['bytes=-10', 140, 149],
    ['bytes=-9999', 0, 149],
    ['Bytes=1-2', 1, 2],
  ])('answers %s with that part', async (Range, first, last) => {
    const { get } = await complete(service);
    const length = last - first + 1;
    expect(shown(await get({ Range }))).toEqual({
      status: 206,
      range: `bytes ${first}-${last}/150`,
      length: String(length),
      text: sound(first, length),
    });
  });

  test.each(['bytes=150-', 'bytes=150-160', 'bytes=-0', `bytes=${'9'.repeat(40)}-`])('refuses %s', async (Range) => {
    const { get } = await complete(service);
    const { status, headers, problem } = await get({ Range });
    expect({ status, range: headers.get('content-range') }).toEqual({ status: 416, range: 'bytes */150' });
    expect(problem.code).toBe('range-not-satisfiable');
  });

  test.each(['bytes=0-1,3-4', 'bytes=5-4', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes 0-1', 'lines=1-2', ''])(
    'ignores "%s", which is no single range of bytes',
    async (Range) => {
      const { get } = await complete(service);
      expect(shown(await get({ Range }))).toEqual({ status: 200, range: null, length: '150', text: sound(0, 150) });
    },
  );

  test('serves a range only if If-Range matches', async () => {
    const { get } = await complete(service);
    const etag = (await get()).headers.get('etag')!;
    const Range = 'bytes=0-9';
    expect(shown(await get({ Range, 'If-Range': etag }))).toMatchObject({ status: 206, text: sound(0, 10) });
    for (const other of ['"another"', `W/${etag}`, 'Sat, 21 Nov 2026 00:00:00 GMT']) {
      expect(shown(await get({ Range, 'If-Range': other }))).toMatchObject({ status: 200, length: '150' });
    }
  });

  test('has an ETag by content', async () => {
    const clips = [await complete(service), await complete(service), await complete(service, 151)];
    const etags = await Promise.all(clips.map(async ({ get }) => (await get()).headers.get('etag')));
    expect(etags[0]).toBe(etags[1]);
    expect(etags[0]).not.toBe(etags[2]);
  });
});

describe('access to a clip', () => {
  test('needs only its id, no API key', async () => {
    const service = await startSpeechService({ env: { API_KEYS: 'key' } });
    const headers = { authorization: 'Bearer key', 'content-type': 'application/json' };
    const content = JSON.stringify({ calls: [[{ text: '150' }]] });
    const body = JSON.stringify({ messages: [{ role: 'user', content }] });
    const answer = await service.api('/chat', { method: 'POST', headers, body });
    const [, path = ''] = /<([^>]*)>/.exec(answer.headers.get('link') ?? '') ?? [];
    expect(path).toMatch(/^\/api\/v1\/tts\/clips\/[\w.-]{22,}$/);
    const clip = await createApi(service.url).get(path);
    expect({ status: clip.status, text: clip.text }).toEqual({ status: 200, text: sound(0, 150) });
  });

  test('is allowed for listed origins, whose scripts see range headers and ETag', async () => {
    const service = await startSpeechService({ env: { CORS_ORIGINS: 'https://app.example.com' } });
    const { get, api, clip } = await complete(service);
    const Origin = 'https://app.example.com';
    const { headers } = await get({ Origin, Range: 'bytes=0-1' });
    expect(headers.get('access-control-allow-origin')).toBe(Origin);
    const exposed = headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['Accept-Ranges', 'Content-Range', 'ETag']));
    const preflight = await api.send('OPTIONS', `/api/v1${clip}`, {
      headers: { Origin, 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'range' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/\bRange\b/);
    expect((await get()).headers.get('vary')).toBe('Origin'); // a cache must not hand this one to the page
    expect((await get({ Origin: 'https://elsewhere.example' })).status).toBe(403);
  });

  test('is not logged', async () => {
    const service = await startSpeechService();
    const { clip, get } = await complete(service);
    await get();
    await expect.poll(() => service.log.some(({ operation }) => operation === 'getSpeechClip')).toBe(true);
    const id = clip.split('/').at(-1)!;
    expect(JSON.stringify(service.log)).not.toContain(id);
  });

  test.each([
    ['OPTIONS', '', { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'GET' }],
    ['GET', '', { Origin: 'https://elsewhere.example' }],
    ['PUT', '', {}],
    ['GET', '/more', {}],
  ])('is not in the log of what is refused before it is routed (%s %s %o)', async (method, more, headers) => {
    const service = await startSpeechService();
    const id = 'AnIdThatSomebodyKnows1';
    await createApi(service.url).send(method, `/api/v1/tts/clips/${id}${more}`, { headers });
    const line = () => service.log.find(({ msg }) => msg === 'request');
    await expect.poll(line).toMatchObject({ path: `/api/v1/tts/clips/{id}${more}` });
    expect(JSON.stringify(service.log.filter(({ level }) => level >= 30))).not.toContain(id);
  });
});

/** The files of clips that this process, which is the service, holds open. */
async function openFiles({ dir }: TestService): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((path) => path.startsWith(dir) && path.includes('/clip-'));
}
