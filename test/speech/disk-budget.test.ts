/** Speech and clips share the disk budget: a caller who does not read takes no space from others, and all space is released. */
import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { addressOf, makeClip, open, startReading, startSpeechService } from './support.ts';

const patience = { timeout: 10_000, interval: 10 };
const mebibyte = 1024 * 1024;
const used = ({ service }: TestService) => service.disk.used;

/** Another caller than the one that makes the clips. */
const stranger = '127.0.0.2';

function startSpeaking(service: TestService, text: string, localAddress?: string) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text });
  return startReading(addressOf(service, '/tts'), {
    ...{ method: 'POST', headers, body },
    ...(localAddress !== undefined && { localAddress }),
  });
}

describe('a client that does not read', () => {
  test('evicts no clips with direct speech, and is rejected at its share of the budget', async () => {
    const service = await startSpeechService({ env: { DISK_BUDGET: String(16 * mebibyte) } });
    const clip = await makeClip(service, '1000');
    const readings = [];
    for (let i = 0; i < 12; i++) {
      const reading = await startSpeaking(service, `1000000 gate:no${'x'.repeat(i)}`, stranger);
      reading.response.pause();
      readings.push(reading);
    }
    const statuses = readings.map(({ response }) => response.statusCode);
    expect(statuses).toEqual([...Array<number>(8).fill(200), ...Array<number>(4).fill(503)]);
    expect((await createApi(service.url).get(`/api/v1${clip}`)).text).toHaveLength(1000);
    for (const reading of readings) reading.leave();
    await expect.poll(() => used(service), patience).toBe(1000);
  });

  test('evicts no clips of others with its own clips', async () => {
    const service = await startSpeechService({ env: { DISK_BUDGET: String(4 * mebibyte) } });
    const clip = await makeClip(service, '1000');
    for (let i = 0; i < 8; i++) {
      const made = await makeClipFrom(stranger, service, '400000');
      const reading = await startReading(addressOf(service, made), { localAddress: stranger });
      onTestFinished(() => reading.leave());
      reading.response.pause();
    }
    expect((await createApi(service.url).get(`/api/v1${clip}`)).text).toHaveLength(1000);
    expect(used(service)).toBeLessThanOrEqual(2 * mebibyte);
  });
});

/** `makeClip` of another caller. */
async function makeClipFrom(localAddress: string, { url }: TestService, script: string): Promise<string> {
  const content = JSON.stringify({ calls: [[{ text: script }]] });
  const sending = request(`${url}/api/v1/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    localAddress,
  });
  sending.end(JSON.stringify({ messages: [{ role: 'user', content }] }));
  const link = await new Promise<string>((resolve, reject) => {
    sending.once('error', reject).once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.headers.link)));
    });
  });
  return /<\/api\/v1([^>]*)>/.exec(link)![1]!;
}

describe('the bytes of direct speech are released', () => {
  test.each([
    ['when it has been read', '100', 'whole'],
    ['when it fails half way', '100 gate:go fail', 'broken'],
    ['when it is larger than what is left', '100 gate:go 9000000', 'broken'],
  ])('%s', async (_when, text, end) => {
    const service = await startSpeechService({ env: { DISK_BUDGET: String(16 * mebibyte) } });
    const reading = await startSpeaking(service, text);
    await expect.poll(() => reading.received.length, patience).toBeGreaterThanOrEqual(100);
    await open(service, 'go');
    expect(await reading.ended).toBe(end);
    await expect.poll(() => used(service), patience).toBe(0);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });

  test.each(['100 hang', '1000000'])('when the client disconnects (%s)', async (text) => {
    const service = await startSpeechService();
    const reading = await startSpeaking(service, text);
    reading.response.pause();
    expect(used(service)).toBeGreaterThan(0);
    reading.leave();
    await expect.poll(() => used(service), patience).toBe(0);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });

  test('on shutdown', async () => {
    const service = await startSpeechService();
    await makeClip(service, '1000');
    await startSpeaking(service, '100 hang');
    expect(used(service)).toBe(1100);
    await service.service.stop(0);
    expect(used(service)).toBe(0);
    expect(service.log.filter(({ msg }) => msg.includes('could not be removed'))).toEqual([]);
  });
});

/** Speaks as many seconds of silence as its text says, encoded as it was asked for. */
const encodingEngine = `
export default {
  contract: 1,
  name: 'silence',
  capability: 'speech',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [{ id: 'silence', local: true }],
    async synthesize({ text, format }, { signal }) {
      async function* samples() {
        for (let second = 0; second < Number(text); second++) yield new Int16Array(16_000);
        if (text.endsWith('.')) await new Promise(() => {});
      }
      return context.encode({ sampleRate: 16_000, samples: samples() }, format, { signal });
    },
  }),
};
`;

describe('wav speech', () => {
  async function start() {
    const service = await startTestService({
      env: { DISK_BUDGET: String(8 * mebibyte) },
      config: 'engines: { silence: { use: ./silence.mjs } }',
      files: { 'silence.mjs': encodingEngine },
    });
    onTestFinished(() => service[Symbol.asyncDispose]());
    return service;
  }

  test('counts while it is collected, and is rejected when it is too large', async () => {
    const service = await start();
    const speak = (text: string) => createApi(service.url).post('/api/v1/tts', { text, format: 'wav' });
    expect((await speak('70')).problem).toMatchObject({ status: 503, code: 'storage-full', retry_after: 30 });
    expect(await speak('10')).toMatchObject({ status: 200 });
    await expect.poll(() => used(service), patience).toBe(0);
  });

  test('is released when the client disconnects before completion', async () => {
    const service = await start();
    const caller = new AbortController();
    const body = { text: '10.', format: 'wav' };
    const leaving = expect(service.post('/tts', body, { signal: caller.signal })).rejects.toThrow();
    await expect.poll(() => used(service), patience).toBeGreaterThan(256_000);
    caller.abort();
    await leaving;
    await expect.poll(() => used(service), patience).toBe(0);
  });
});
