/** POST /tts streams the speech of a text while it is made. */
import { describe, expect, test } from 'vitest';
import { createApi } from '../support/http.ts';
import type { TestService } from '../support/service.ts';
import { addressOf, makeClip, open, sound, startReading, startSpeechService, synthesized } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };

const speak = (service: TestService, body: object) => createApi(service.url).post('/api/v1/tts', body);

function startSpeaking(service: TestService, text: string) {
  const headers = { 'content-type': 'application/json' };
  return startReading(addressOf(service, '/tts'), { method: 'POST', headers, body: JSON.stringify({ text }) });
}

const isSynthesizing = ({ log }: TestService) =>
  expect.poll(() => log.some(({ msg }) => msg === 'synthesize'), patience).toBe(true);
const hasEnded = ({ log }: TestService) => log.some(({ msg }) => msg === 'ended');

describe('the audio', () => {
  test('is streamed during the synthesis', async () => {
    const service = await startSpeechService();
    const reading = await startSpeaking(service, '100 gate:go 50');
    expect(reading.response.statusCode).toBe(200);
    expect(reading.response.headers).toMatchObject({ 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' });
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await open(service, 'go');
    expect(await reading.ended).toBe('whole');
    expect(reading.received).toBe(sound(0, 150));
  });

  test.each([
    ['audio/wav', 'audio/wav'],
    ['audio/ogg; codecs=opus', 'audio/ogg'],
  ])('that the engine calls %s is announced as %s', async (mediaType, announced) => {
    const service = await startSpeechService({ speech: `mediaType: "${mediaType}"` });
    const { status, headers } = await speak(service, { text: '10' });
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: announced });
  });

  test('says that it is synthetic in a header, and is otherwise what the engine made', async () => {
    const service = await startSpeechService();
    const api = createApi(service.url);
    const address = `/api/v1${await makeClip(service, '150')}`;
    await expect.poll(async () => (await api.get(address)).headers.has('etag'), patience).toBe(true);
    const answers = [
      await speak(service, { text: '150' }),
      await api.post('/v1/audio/speech', { input: '150' }),
      await api.get(address),
      await api.get(address, { Range: 'bytes=0-' }),
    ];
    for (const { headers, text } of answers) {
      expect(headers.get('x-parlance-synthetic')).toBe('true');
      expect(text).toBe(sound(0, 150));
    }
    expect((await api.send('HEAD', address)).headers.get('x-parlance-synthetic')).toBe('true');
  });

  test('of an undeclared media type is engine-failed', async () => {
    const service = await startSpeechService({ speech: 'mediaType: video/mp4' });
    expect((await speak(service, { text: '10' })).problem).toMatchObject({ status: 500, code: 'engine-failed' });
    await expect.poll(() => service.log.some(({ msg }) => msg === 'ended')).toBe(true);
  });
});

test('a slow or stalled reader blocks neither the engine nor fills the memory', async () => {
  const service = await startSpeechService();
  const pieces = () => service.log.filter(({ msg }) => msg === 'piece').length;
  const reading = await startSpeaking(service, `100 gate:go ${'1000000 '.repeat(50)}`);
  reading.response.pause();
  await open(service, 'go');
  await expect.poll(pieces, patience).toBe(51);
  expect(reading.response.readableLength + reading.received.length).toBeLessThan(1_000_000);
  expect(await service.leftovers()).not.toEqual([]);
  reading.response.resume();
  expect(await reading.ended).toBe('whole');
  expect(reading.received).toHaveLength(50_000_100);
  await expect.poll(() => service.leftovers(), patience).toEqual([]);
});

describe('the model and the voice', () => {
  test.each([
    ['the default model in its own voice, as mp3', {}, {}, { model: 'choir', format: 'mp3' }],
    ['null is the default', {}, { model: null, voice_id: null, format: null }, { model: 'choir', format: 'mp3' }],
    [
      'the model, the voice and the format of the request',
      { TTS_VOICE: 'anna' },
      { model: 'duo', voice_id: 'carl', format: 'wav' },
      { model: 'duo', voice: 'carl', format: 'wav' },
    ],
    ['TTS_VOICE', { TTS_VOICE: 'bob' }, {}, { model: 'choir', voice: 'bob', format: 'mp3' }],
    [
      'TTS_VOICE where the default model lists no voices',
      { TTS_MODEL: 'unlisted', TTS_VOICE: 'x' },
      {},
      { model: 'unlisted', voice: 'x' },
    ],
    ['TTS_MODEL', { TTS_MODEL: 'unlisted' }, {}, { model: 'unlisted', format: 'mp3' }],
    [
      'any voice of a model that lists none',
      {},
      { model: 'unlisted', voice_id: 'x' },
      { model: 'unlisted', voice: 'x' },
    ],
    ['TTS_VOICE where another model has it', { TTS_VOICE: 'anna' }, { model: 'duo' }, { model: 'duo', voice: 'anna' }],
  ])('%s', async (_what, env, body, call) => {
    const service = await startSpeechService({ env });
    expect((await speak(service, { text: '10', ...body })).status).toBe(200);
    expect(synthesized(service)).toEqual([{ format: 'mp3', ...call }]);
  });

  test.each(['duo', 'unlisted'])('not TTS_VOICE when the request names %s, which does not list it', async (model) => {
    const service = await startSpeechService({ env: { TTS_VOICE: 'bob' } });
    expect((await speak(service, { text: '10', model })).status).toBe(200);
    expect(synthesized(service)).toEqual([{ model, format: 'mp3' }]);
  });

  test('refuses to start with an unknown TTS_VOICE and lists the valid ones', async () => {
    await expect(startSpeechService({ env: { TTS_VOICE: 'carl' } })).rejects.toThrow(
      'TTS_VOICE: the default speech model "choir" has no voice "carl"; available: anna, bob',
    );
  });
});

describe('rejected before the synthesis', () => {
  test.each([
    ['an empty text', { text: '' }, 422, 'invalid-request', '/text'],
    ['32,001 characters', { text: 'ü'.repeat(32_001) }, 422, 'invalid-request', '/text'],
    ['a format that does not exist', { text: '10', format: 'midi' }, 422, 'invalid-request', '/format'],
    ['a model that does not exist', { text: '10', model: 'solo' }, 422, 'unknown-model', '/model'],
    ['a voice that the model does not list', { text: '10', voice_id: 'carl' }, 422, 'voice-not-supported', '/voice_id'],
    ['a model that cannot speak now', { text: '10', model: 'mute' }, 503, 'model-unavailable', undefined],
  ])('%s', async (_what, body, status, code, pointer) => {
    const service = await startSpeechService();
    const { problem } = await speak(service, body);
    expect(problem).toMatchObject({ status, code });
    expect(problem.errors?.[0]?.pointer).toBe(pointer);
    expect(synthesized(service)).toEqual([]);
  });

  test('every request without an engine', async () => {
    const service = await startSpeechService({ speech: null });
    expect((await speak(service, { text: '10' })).problem).toMatchObject({ status: 503, code: 'no-engine' });
  });

  test('but not 32,000 characters of four bytes', async () => {
    const service = await startSpeechService();
    expect((await speak(service, { text: `10 ${'😀'.repeat(31_997)}` })).status).toBe(200);
  });
});

describe('a synthesis that fails', () => {
  test.each(['fail', 'gate:go fail'])('before its first byte (%s) is a problem', async (text) => {
    const service = await startSpeechService();
    const answer = speak(service, { text });
    await isSynthesizing(service);
    await open(service, 'go');
    expect((await answer).problem).toMatchObject({ status: 502, code: 'provider-error', detail: 'The voice broke.' });
  });

  test('without audio is a problem, too', async () => {
    const service = await startSpeechService();
    expect((await speak(service, { text: 'silence' })).problem).toMatchObject({ status: 500, code: 'engine-failed' });
  });

  test('in the middle is a broken transfer, logged with the request id', async () => {
    const service = await startSpeechService();
    const reading = await startSpeaking(service, '100 gate:go fail');
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await open(service, 'go');
    expect(await reading.ended).toBe('broken');
    const id = reading.response.headers['x-request-id'];
    await expect
      .poll(() => service.log.find((line) => line.id === id && line.level === 50))
      .toMatchObject({
        msg: 'a request failed',
        operation: 'createSpeech',
        code: 'provider-error',
      });
  });
});

describe('a client that disconnects', () => {
  test('shutdown stops the engine and breaks the transfer', async () => {
    const service = await startSpeechService();
    const reading = await startSpeaking(service, '100 hang');
    await service.service.stop(0);
    expect(await reading.ended).toBe('broken');
    expect(hasEnded(service)).toBe(true);
  });
});

test('the model list contains voices, availability and the default', async () => {
  const service = await startSpeechService({ env: { TTS_MODEL: 'duo' } });
  const { body } = await createApi(service.url).get('/api/v1/tts/models');
  const common = {
    engine: 'speech',
    available: true,
    code: 'ready',
    reason: 'Ready.',
    supports: [],
    default_voice: null,
  };
  const anna = { id: 'anna', name: 'Anna', language: 'de' };
  expect(body).toEqual({
    default: 'duo',
    data: [
      {
        ...common,
        id: 'choir',
        name: 'choir',
        local: true,
        voices: [anna, { id: 'bob', name: 'Bob', language: 'en' }],
      },
      { ...common, id: 'duo', name: 'duo', local: false, voices: [{ id: 'carl', name: 'Carl', language: 'en' }, anna] },
      {
        id: 'mute',
        name: 'mute',
        engine: 'speech',
        local: true,
        supports: [],
        voices: [],
        default_voice: null,
        available: false,
        code: 'program-missing',
        reason: 'It has no voice.',
      },
      { ...common, id: 'unlisted', name: 'unlisted', local: true, voices: [] },
    ],
  });
});
