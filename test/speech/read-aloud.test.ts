/** The tool read_aloud: its definition, the voice that speaks, and the owner of the clip. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStream } from '../chat/support/stream.ts';
import { calls, says } from '../engines/llm-agent/support.ts';
import { createApi } from '../support/http.ts';
import { startProvider } from '../support/provider.ts';
import type { TestService } from '../support/service.ts';
import {
  addressOf,
  chat,
  chatBody,
  open,
  sound,
  startReading,
  startSpeechService,
  synthesized,
  type ChatScript,
} from './support.ts';

const patience = { timeout: 10_000, interval: 5 };
const spoken = 'The text is being read aloud to the user now.';

const once = (args: object): ChatScript => ({ calls: [[args]] });

describe('the tool', () => {
  test('is offered if the default model is available', async () => {
    expect((await chat(await startSpeechService(), {})).tools).toEqual(['read_aloud']);
  });

  test.each([
    ['there is no engine', { speech: null }],
    ['the engine cannot speak now', { speech: 'down: true' }],
    ['the default model cannot speak now', { env: { TTS_MODEL: 'mute' } }],
  ])('is not offered where %s, and the chat continues without it', async (_what, options) => {
    const service = await startSpeechService(options);
    expect((await chat(service, {}, { voice_id: 'anna' })).tools).toEqual([]);
  });

  test('creates an mp3 clip, and does not tell the model its URL', async () => {
    const service = await startSpeechService();
    const { said, clips } = await chat(service, once({ text: '150' }));
    expect({ said, clips }).toEqual({ said: [spoken], clips: [expect.stringMatching(/^\/tts\/clips\/[\w.-]{22,}$/)] });
    expect(synthesized(service)).toEqual([{ model: 'choir', format: 'mp3' }]);
    const { status, text } = await createApi(service.url).get(`/api/v1${clips[0]!}`);
    expect({ status, text }).toEqual({ status: 200, text: sound(0, 150) });
  });

  test('creates a clip per call, linked in call order, also for parallel calls', async () => {
    const service = await startSpeechService();
    const answer = chat(service, { calls: [[{ text: 'gate:go 10' }, { text: '20' }], [{ text: '30' }]] });
    await expect.poll(() => synthesized(service), patience).toHaveLength(2);
    await open(service, 'go');
    const { clips } = await answer;
    const api = createApi(service.url);
    const lengths = clips.map(async (path) => (await api.get(`/api/v1${path}`)).text.length);
    expect(await Promise.all(lengths)).toEqual([10, 20, 30]);
  });

  test('announces parallel clips in call order, even if a later one is ready first', async () => {
    const provider = await startProvider();
    const texts = ['gate:go 10', '20'];
    provider.behave(
      calls(...texts.map((text) => ({ name: 'read_aloud', args: JSON.stringify({ text }) }))),
      says('So.'),
    );
    const chatEngine = `{ use: llm-agent, baseUrl: "${provider.baseUrl}", models: [remote] }`;
    const config = `engines: { chat: ${chatEngine}, speech: { use: ./speech.mjs } }`;
    const service = await startSpeechService({ config });
    const stream = readStream(service.url, { messages: [{ role: 'user', content: 'Read it.' }] });
    await expect.poll(() => service.log.filter(({ msg }) => msg === 'piece'), patience).toHaveLength(1);
    await open(service, 'go');
    const { events } = await stream;
    expect(events.at(-1)).toMatchObject({ type: 'chat.completed' });
    const ids = (type: string) => events.flatMap((event) => (event.type === type && 'id' in event ? event.id : []));
    expect(ids('audio.created')).toEqual(['tool-0-0', 'tool-0-1']);
    expect(new Set(ids('tool.finished'))).toEqual(new Set(['tool-0-0', 'tool-0-1']));
  });

  test('is announced in the stream under PUBLIC_URL as soon as it is playable', async () => {
    const service = await startSpeechService({ env: { PUBLIC_URL: 'https://voice.example.com/', ALLOW_OPEN: 'true' } });
    const body = JSON.stringify(chatBody({ ...once({ text: '100 gate:go 50' }), then: 'hang' }));
    const headers = { 'content-type': 'application/json' };
    const stream = await startReading(addressOf(service, '/chat/stream'), { method: 'POST', headers, body });
    const announced = () =>
      /"url":"https:\/\/voice\.example\.com(\/[^"]*)","content_type":"audio\/mpeg"/.exec(stream.received);
    await expect.poll(announced, patience).not.toBeNull();
    const reading = await startReading(`${service.url}${announced()![1]!}`);
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    stream.leave();
    expect(await reading.ended).toBe('broken');
  });
});

describe('the model and the voice', () => {
  test.each([
    ['the default in its own voice, in the language of the text', {}, {}, { language: 'de' }, { language: 'de' }],
    [
      'the voice of the caller, whatever the model wants',
      {},
      { voice_id: 'bob' },
      { voice: 'anna', model: 'duo' },
      { voice: 'bob' },
    ],
    [
      'no other, when the caller wants none',
      {},
      {},
      { voice: 'anna', model: 'duo', voice_id: 'anna', tts_model: 'duo' },
      {},
    ],
    ['the model of the caller', {}, { tts_model: 'duo' }, {}, { model: 'duo' }],
    ['TTS_MODEL and TTS_VOICE', { TTS_MODEL: 'duo', TTS_VOICE: 'carl' }, {}, {}, { model: 'duo', voice: 'carl' }],
    ['the voice of the caller before TTS_VOICE', { TTS_VOICE: 'anna' }, { voice_id: 'bob' }, {}, { voice: 'bob' }],
    [
      'a voice that the caller chose, without the language',
      {},
      { voice_id: 'bob' },
      { language: 'de' },
      { voice: 'bob' },
    ],
    ['TTS_VOICE, without the language', { TTS_VOICE: 'anna' }, {}, { language: 'en' }, { voice: 'anna' }],
    [
      'the language where TTS_VOICE belongs to another model',
      { TTS_VOICE: 'bob' },
      { tts_model: 'duo' },
      { language: 'en' },
      { model: 'duo', language: 'en' },
    ],
    ['a language that is null or empty counts as absent', {}, {}, { language: '' }, {}],
  ])('%s', async (_what, env, wishes, args, call) => {
    const service = await startSpeechService({ env });
    const { said } = await chat(service, once({ text: '10', ...args }), wishes);
    expect(said).toEqual([spoken]);
    expect(synthesized(service)).toEqual([{ model: 'choir', format: 'mp3', ...call }]);
  });

  test.each([
    ['a model that does not exist', { tts_model: 'solo' }, 422, 'unknown-model', '/tts_model'],
    ['a voice that the default does not list', { voice_id: 'carl' }, 422, 'voice-not-supported', '/voice_id'],
    ['a voice of another model', { tts_model: 'duo', voice_id: 'bob' }, 422, 'voice-not-supported', '/voice_id'],
    ['a model that cannot speak now', { tts_model: 'mute' }, 503, 'model-unavailable', undefined],
  ])('a wish for %s is refused before the run, in both variants', async (_what, wishes, status, code, pointer) => {
    const service = await startSpeechService();
    const api = createApi(service.url);
    for (const path of ['/api/v1/chat', '/api/v1/chat/stream']) {
      const { problem } = await api.post(path, chatBody({}, wishes));
      expect(problem).toMatchObject({ status, code });
      expect(problem.errors?.[0]?.pointer).toBe(pointer);
    }
  });
});

describe('errors passed to the model', () => {
  test.each([
    ['no text', {}, /^`text` must be/],
    ['a text that is not a string', { text: 7 }, /^`text` must be/],
    ['an empty text', { text: ' \n' }, /^`text` must be/],
    ['32,001 characters', { text: 'ü', times: 32_001 }, /^`text` must have at most 32000 characters/],
    ['a language by its name', { text: '10', language: 'German' }, /^`language` must be a two-letter code/],
  ])('%s', async (_what, args, message) => {
    const service = await startSpeechService();
    const { said, clips } = await chat(service, once(args));
    expect({ said, clips }).toEqual({ said: [expect.stringMatching(message)], clips: [] });
    expect(synthesized(service)).toEqual([]);
  });

  test('a failure before the first byte, with its cause logged', async () => {
    const service = await startSpeechService();
    const { said, clips } = await chat(service, once({ text: 'fail' }));
    expect({ said, clips }).toEqual({ said: ['The voice broke.'], clips: [] });
    const id = () => service.log.find(({ operation }) => operation === 'createChat')?.id;
    await expect.poll(id).toBeDefined();
    expect(service.log.find(({ msg }) => msg === 'read_aloud failed')).toMatchObject({ level: 40, id: id() });
    expect(await service.leftovers()).toEqual([]);
  });

  test('the seventeenth clip', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const service = await startSpeechService();
    const { said, clips } = await chat(service, { calls: [Array.from({ length: 17 }, () => ({ text: '10 hang' }))] });
    expect(clips).toHaveLength(16);
    expect(said.filter((answer) => answer !== spoken)).toEqual([expect.stringMatching(/at most 16 times/)]);
    expect(warnings).toEqual([]);
  });
});

describe('a clip belongs', () => {
  const ended = ({ log }: TestService) => log.filter(({ msg }) => msg === 'ended');

  test('to the store after the chat has completed: its synthesis continues', async () => {
    const service = await startSpeechService();
    const { clips } = await chat(service, once({ text: '100 gate:go 50' }));
    expect(ended(service)).toEqual([]);
    await open(service, 'go');
    const reading = await startReading(addressOf(service, clips[0]!));
    expect(await reading.ended).toBe('whole');
    expect(reading.received).toBe(sound(0, 150));
  });

  test.each(['100 hang', '100'])('to the run until then: removed when the run fails (%s)', async (text) => {
    const service = await startSpeechService();
    const { problem } = await createApi(service.url).post(
      '/api/v1/chat',
      chatBody({ ...once({ text }), then: 'fail' }),
    );
    expect(problem.status).toBe(500);
    await expect.poll(() => ended(service), patience).toHaveLength(text === '100' ? 0 : 1);
    await expect.poll(() => service.leftovers(), patience).toEqual([]);
  });
});
