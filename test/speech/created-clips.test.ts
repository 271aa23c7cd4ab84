/** POST and DELETE of clips: from the first bytes of a synthesis to its end. */
import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { createApi } from '../support/http.ts';
import { nextRequest } from '../support/next-request.ts';
import type { TestService } from '../support/service.ts';
import { addressOf, open, sound, startReading, startSpeechService } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };
const path = '/api/v1/tts/clips';

async function create(service: TestService, text: string, more: object = {}) {
  const { status, headers, body } = await createApi(service.url).post(path, { text, ...more });
  expect({ status, body }).toMatchObject({ status: 201 });
  return { ...(body as Schemas['Audio']), location: headers.get('location') };
}

const remove = ({ url }: TestService, id: string) => createApi(url).send('DELETE', `${path}/${id}`);
const synthesesEnded = ({ log }: TestService) => log.filter(({ msg }) => msg === 'ended').length;

describe('a created clip', () => {
  test('is announced with its first bytes and plays while it grows', async () => {
    const service = await startSpeechService();
    const { id, url, content_type, location } = await create(service, '100 gate:go 50');
    expect({ url, content_type, location }).toEqual({
      url: `${path}/${id}`,
      content_type: 'audio/mpeg',
      location: url,
    });
    expect(id).toMatch(/^[\w.-]{22,}$/);
    const reading = await startReading(service.url + url);
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await open(service, 'go');
    expect(await reading.ended).toBe('whole');
    expect(reading.received).toBe(sound(0, 150));
    const { headers } = await createApi(service.url).get(url);
    expect(headers.get('content-length')).toBe('150');
  });

  test('has the model, the voice and the format that are asked for, and an address under PUBLIC_URL', async () => {
    const service = await startSpeechService({
      env: { PUBLIC_URL: 'https://voice.example/talk/', ALLOW_OPEN: 'true' },
    });
    const { id, url } = await create(service, '10', { model: 'unlisted', voice_id: 'any', format: 'wav' });
    expect(url).toBe(`https://voice.example/talk${path}/${id}`);
    const asked = service.log.find(({ msg }) => msg === 'synthesize')?.call;
    expect(asked).toEqual({ model: 'unlisted', voice: 'any', format: 'wav' });
  });

  test.each([
    ['fail', 502, 'provider-error'],
    ['gate:never', 422, 'unknown-model'],
  ])('is a problem when the synthesis fails before its first bytes (%s)', async (text, status, code) => {
    const service = await startSpeechService();
    const more = code === 'unknown-model' ? { model: 'absent' } : {};
    const { problem } = await createApi(service.url).post(path, { text, ...more });
    expect(problem).toMatchObject({ status, code });
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });

  test('is not made for a caller that has left', async () => {
    const service = await startSpeechService();
    const begun = nextRequest(service);
    const headers = { 'content-type': 'application/json' };
    const sending = request(addressOf(service, '/tts/clips'), { method: 'POST', headers });
    sending.on('error', () => {});
    sending.end(JSON.stringify({ text: 'gate:go 100' }));
    await begun;
    await expect.poll(() => service.log.some(({ msg }) => msg === 'synthesize'), patience).toBe(true);
    sending.destroy();
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });

  test('counts as its caller, who needs a key; reading and deleting need none', async () => {
    const service = await startSpeechService({ env: { API_KEYS: 'key' } });
    const api = createApi(service.url);
    expect((await api.post(path, { text: '10' })).status).toBe(401);
    const { body } = await api.post(path, { text: '10' }, { authorization: 'Bearer key' });
    const { url } = body as Schemas['Audio'];
    expect((await api.get(url)).text).toBe(sound(0, 10));
    expect((await api.send('DELETE', url)).status).toBe(204);
  });
});

describe('DELETE', () => {
  test('ends the synthesis and its readers, and the clip is gone', async () => {
    const service = await startSpeechService();
    const { id, url } = await create(service, '100 hang');
    const reading = await startReading(service.url + url);
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    const { status, text, headers } = await remove(service, id);
    expect({ status, text, type: headers.get('content-type') }).toEqual({ status: 204, text: '', type: null });
    expect(await reading.ended).toBe('broken');
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    expect(await service.leftovers()).toEqual([]);
    expect(service.service.disk.used).toBe(0);
    expect((await createApi(service.url).get(url)).problem).toMatchObject({ status: 404, code: 'clip-not-found' });
    expect((await remove(service, id)).problem).toMatchObject({ status: 404, code: 'clip-not-found' });
    expect(service.log.filter(({ level, operation }) => level >= 40 && operation !== 'getSpeechClip')).toEqual([]);
  });

  test('removes a complete clip', async () => {
    const service = await startSpeechService();
    const { id, url } = await create(service, '100');
    const complete = async () => (await createApi(service.url).get(url)).headers.get('etag');
    await expect.poll(complete, patience).not.toBeNull();
    expect((await remove(service, id)).status).toBe(204);
    expect(await service.leftovers()).toEqual([]);
  });

  test('is named by Allow and by CORS', async () => {
    const origin = 'https://app.example.com';
    const service = await startSpeechService({ env: { CORS_ORIGINS: origin } });
    const api = createApi(service.url);
    const allowed = async (place: string) => (await api.send('PUT', place)).headers.get('allow');
    expect(await allowed(path)).toBe('POST');
    expect(await allowed(`${path}/abc`)).toBe('GET, HEAD, DELETE');
    const preflight = await api.send('OPTIONS', `${path}/abc`, {
      headers: { Origin: origin, 'Access-Control-Request-Method': 'DELETE' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, DELETE');
    const foreign = await api.send('DELETE', `${path}/abc`, { headers: { Origin: 'https://elsewhere.example' } });
    expect(foreign.status).toBe(403);
  });
});

describe('an unread clip', () => {
  const soon = { clipUnreadMs: 100 };

  test('ends while it is incomplete', async () => {
    const service = await startSpeechService(soon);
    const { url } = await create(service, '100 hang');
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
    expect((await createApi(service.url).get(url)).status).toBe(404);
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });

  test.each([{}, { Range: 'bytes=0-1' }])('has a reader as long as somebody waits for it (%o)', async (headers) => {
    const service = await startSpeechService(soon);
    const { url } = await create(service, '100 gate:go 50');
    const reading = startReading(service.url + url, { headers });
    await create(service, '100 hang'); // younger: it ends later
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    await open(service, 'go');
    expect(await (await reading).ended).toBe('whole');
  });

  test('ends after its last reader has left', async () => {
    const service = await startSpeechService(soon);
    const { url } = await create(service, '100 hang');
    const reading = await startReading(service.url + url);
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    reading.leave();
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
  });

  test('stays when it is complete', async () => {
    const service = await startSpeechService(soon);
    const { url } = await create(service, '100');
    await create(service, '100 hang');
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    expect((await createApi(service.url).get(url)).status).toBe(200);
  });

  test('of a chat is not ended: who chats learns of it with the answer', async () => {
    const service = await startSpeechService(soon);
    const content = JSON.stringify({ calls: [[{ text: '100 gate:go 50' }]] });
    const chat = await createApi(service.url).post('/api/v1/chat', { messages: [{ role: 'user', content }] });
    const [, url = ''] = /<([^>]*)>/.exec(chat.headers.get('link') ?? '') ?? [];
    await create(service, '100 hang');
    await expect.poll(() => synthesesEnded(service), patience).toBe(1);
    const reading = await startReading(service.url + url);
    onTestFinished(() => reading.leave());
    expect(reading.response.statusCode).toBe(200);
  });
});
