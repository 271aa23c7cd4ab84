/** Live transcription of tone words by the real whisper-cli, and a conversation, with the SDKs that speak this protocol. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { experimental_streamTranscribe as streamTranscribe } from 'ai';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { ConversationItem } from 'openai/resources/realtime/realtime';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bearer, keysFile, tokenOf } from '../../keys/support/keys.ts';
import { startChromium } from '../../support/chromium.ts';
import { createApi } from '../../support/http.ts';
import { startLocalService, upload } from '../../support/local-service.ts';
import { describeWith } from '../../support/programs.ts';
import { commitEvent, inputUpdate, openLiveSession, transcription } from '../../support/realtime-client.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { scriptedTranscription } from '../support/audio.ts';
import { askedOf, msPerWord, notedSandbox, scriptedTalk, toneEars, wordsHeard } from './scripted-engines.ts';
import { sandboxSpeech, toneSpeech } from './spoken-turns.ts';
import { tonePcm, toneWav, type Word } from '../../support/tone-model.ts';

vi.setConfig({ testTimeout: 120_000 });

const pcm = (words: readonly Word[], rate: number, tailSeconds?: number): Uint8Array => {
  const samples = tonePcm({ words, rate, ...(tailSeconds !== undefined && { tailSeconds }) });
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
};

const manual = (rate: number) => inputUpdate({ format: { type: 'audio/pcm', rate }, turn_detection: null });

type SocketOptions = ConstructorParameters<typeof OpenAIRealtimeWS>[0]['options'];

async function transcribeBySdk({ url }: TestService, options: SocketOptions): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-none' });
  const session = new OpenAIRealtimeWS({ intent: 'transcription', options }, client);
  const transcript = new Promise<string>((resolve, reject) => {
    session.on('error', reject);
    session.on('conversation.item.input_audio_transcription.completed', (event) => resolve(event.transcript));
  });
  session.on('session.created', () => {
    const input = { transcription: { model: 'gpt-transcribe', language: 'en' }, turn_detection: null };
    session.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    const audio = Buffer.from(pcm(['charlie', 'delta'], 24_000)).toString('base64');
    session.send({ type: 'input_audio_buffer.append', audio });
    session.send({ type: 'input_audio_buffer.commit' });
  });
  const text = await transcript;
  session.close();
  return text.trim();
}

const file = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const tls = { TLS_CERT: file('localhost.pem'), TLS_KEY: file('localhost-key.pem') };

describeWith(['whisper-cli'], 'live transcription', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('by the AI SDK over ws://', async () => {
    const openai = createOpenAI({ baseURL: `${service.url}/v1`, apiKey: 'sk-none' });
    const sound = pcm(['alpha', 'bravo'], 24_000);
    const pieces = Array.from({ length: Math.ceil(sound.length / 961) }, (_, i) => sound.slice(i * 961, i * 961 + 961));
    const result = streamTranscribe({
      model: openai.transcription('gpt-realtime-whisper'),
      audio: ReadableStream.from(pieces),
      inputAudioFormat: { type: 'audio/pcm', rate: 24_000 },
    });
    expect((await result.text).trim()).toBe('alpha bravo');
  });

  test('by the openai SDK over plain TCP', async () => {
    const { hostname, port } = new URL(service.url);
    const createConnection = () => connect(Number(port), hostname);
    expect(await transcribeBySdk(service, { createConnection })).toBe('charlie delta');
  });

  test('by the openai SDK over wss://', async () => {
    await using secure = await startLocalService({ env: tls });
    expect(secure.url).toMatch(/^https:/);
    expect(await transcribeBySdk(secure, { ca: await readFile(tls.TLS_CERT) })).toBe('charlie delta');
  });

  test.each([
    ['in one piece', 16_000, undefined],
    ['in pieces of 20 ms', 24_000, 960],
    ['in odd pieces', 48_000, 45_671],
  ])('of sound that comes before session.update, %s, has the transcript of HTTP', async (_how, rate, pieceBytes) => {
    const words: readonly Word[] = ['golf', 'hotel', 'kilo'];
    const session = await openLiveSession(service);
    session.sound(pcm(words, rate), pieceBytes);
    session.say(manual(rate));
    session.say(commitEvent);
    const [completed] = await session.until(`${transcription}completed`);
    const overHttp = await upload(service, toneWav({ words, rate }));
    expect(completed?.transcript?.trim()).toBe(((await overHttp.json()) as { text: string }).text.trim());
    expect(session.events.filter(({ type }) => type === 'error')).toEqual([]);
  });

  test('with turn detection has the same turns and milliseconds in any pieces', async () => {
    const sound = Buffer.concat([pcm(['alpha', 'bravo'], 24_000, 1.5), pcm(['golf'], 24_000, 1.5)]);
    const turnsOf = async (pieceBytes?: number) => {
      const session = await openLiveSession(service);
      // The model expects half a second before the first word.
      session.say(inputUpdate({ turn_detection: { prefix_padding_ms: 500, silence_duration_ms: 700 } }));
      session.sound(sound, pieceBytes);
      const completed = await session.until(`${transcription}completed`, 2);
      const times = session.events.flatMap(({ audio_start_ms: start, audio_end_ms: end }) => start ?? end ?? []);
      const items = (await session.until('input_audio_buffer.committed', 2)).map(({ item_id: id }) => id);
      const texts = items.map((id) => completed.find(({ item_id: item }) => item === id)?.transcript?.trim());
      return { times, texts };
    };
    const whole = await turnsOf();
    expect(whole.texts).toEqual(['alpha bravo', 'golf']);
    expect(whole.times).toHaveLength(4);
    expect(await turnsOf(960)).toEqual(whole);
    expect(await turnsOf(7_777)).toEqual(whole);
  });
});

/**
 * The first of three turns calls a tool. The others interrupt the answers before them, which are then truncated: the first one
 * by too much. Returns what was said, and the ends of both answers.
 */
async function talkBySdk({ url }: TestService, turns: readonly Buffer[], options: SocketOptions) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-none' });
  const session = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client);
  const said: string[] = [];
  session.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => said.push(transcript.trim()));
  const say = (sound: Buffer) => session.send({ type: 'input_audio_buffer.append', audio: sound.toString('base64') });
  const pause = Buffer.alloc(48_000);

  await session.emitted('session.created');
  const audio = { input: { transcription: { model: 'whisper-1' } } };
  const tool = { type: 'function', name: 'weather', parameters: { type: 'object' } } as const;
  session.send({ type: 'session.update', session: { type: 'realtime', audio, tools: [tool] } });
  const [called, done] = [session.emitted('response.function_call_arguments.done'), session.emitted('response.done')];
  say(Buffer.concat([turns[0]!, pause]));
  const { call_id, arguments: json } = await called;
  await done;
  const { city } = JSON.parse(json) as { readonly city: string };
  const output = `It is sunny in ${city}. `.repeat(40);
  let sound = session.emitted('response.output_audio.delta');
  session.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output } });
  session.send({ type: 'response.create' });
  const ends: number[] = [];
  for (const [index, audio_end_ms] of [99_000, 2_000].entries()) {
    const { item_id } = await sound;
    const started = session.emitted('input_audio_buffer.speech_started');
    const truncated = session.emitted('conversation.item.truncated');
    say(turns[index + 1]!);
    await started;
    session.send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms });
    ends.push((await truncated).audio_end_ms);
    sound = session.emitted('response.output_audio.delta');
    say(pause);
  }
  await sound;
  session.close();
  expect(ends[0]).toBeLessThan(99_000);
  return { said, ends };
}

describe('a spoken conversation by the openai SDK over wss://, with a tool and two interruptions', () => {
  describeWith(['whisper-cli'], 'with whisper.cpp', () => {
    test('has the words that were heard', async () => {
      await using service = await startLocalService({ ...scriptedTalk({ ears: toneEars }), env: tls });
      const turns = [toneSpeech(['alpha', 'bravo']), toneSpeech(['charlie']), toneSpeech(['delta', 'golf'])];
      const { said, ends } = await talkBySdk(service, turns, { ca: await readFile(tls.TLS_CERT) });
      expect(said).toEqual(['alpha bravo', 'charlie', 'delta golf']);
      const last = askedOf(service).at(-1)!;
      const result = `tool: ${'It is sunny in Paris. '.repeat(40)}`;
      const talk = ['user: alpha bravo', 'assistant: ', result, last[3], 'user: charlie', last[5], 'user: delta golf'];
      expect(last).toEqual(talk);
      for (const [index, answer] of [last[3], last[5]].entries()) {
        const words = Math.round(ends[index]! / msPerWord);
        expect(Math.abs(wordsHeard(answer) - words), answer).toBeLessThanOrEqual(1);
      }
    });
  });

  test('with the sandbox', async () => {
    await using service = await startTestService({ env: { ...tls, PARLANCE_SANDBOX: '1' } });
    await using plain = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    const texts = ['call weather {"city": "Paris"}', `say: ${'A long story. '.repeat(4)}`.trim(), 'Thank you'];
    const turns = await Promise.all(texts.map((text) => sandboxSpeech(plain, text)));
    const { said } = await talkBySdk(service, turns, { ca: await readFile(tls.TLS_CERT) });
    expect(said).toEqual(texts);
  });
});

test('a conversation by the openai SDK over plain TCP', async () => {
  await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
  const { hostname, port } = new URL(service.url);
  const options = { createConnection: () => connect(Number(port), hostname) };
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'sk-none' });
  const session = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client);
  const answer = new Promise<string>((resolve, reject) => {
    session.on('error', reject);
    session.on('response.output_text.done', ({ text }) => resolve(text));
  });
  session.on('session.created', () => {
    session.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
    const content = [{ type: 'input_text' as const, text: 'Hello' }];
    session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    session.send({ type: 'response.create' });
  });
  expect(await answer).toBe('You said: Hello');
  session.close();
});

test('a conversation by the openai SDK that reconnects after a restart, and creates its items again', async () => {
  await using first = await startTestService(notedSandbox);
  await using second = await startTestService(notedSandbox);
  let current = first;
  const createConnection = () => connect(Number(new URL(current.url).port), '127.0.0.1');
  const client = new OpenAI({ baseURL: `${first.url}/v1`, apiKey: 'sk-none' });
  const session = new OpenAIRealtimeWS(
    { model: 'gpt-realtime', reconnect: true, options: { createConnection } },
    client,
  );
  let items: ConversationItem[] = [];
  session.on('conversation.item.done', ({ item }) => items.push(item));
  const configure = () => {
    const tool = { type: 'function', name: 'weather', parameters: { type: 'object' } } as const;
    session.send({ type: 'session.update', session: { type: 'realtime', tools: [tool] } });
  };
  const create = (item: ConversationItem) => session.send({ type: 'conversation.item.create', item });
  const ask = async (item: ConversationItem) => {
    const done = session.emitted('response.done');
    create(item);
    session.send({ type: 'response.create' });
    return (await done).response.output?.at(-1);
  };
  const says = (text: string): ConversationItem => ({
    ...{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  });

  await session.emitted('session.created');
  configure();
  const call = await ask(says('call weather {"city": "Paris"}'));
  if (call?.type !== 'function_call') throw new Error('the tool is not called');
  await ask({ type: 'function_call_output', call_id: call.call_id!, output: 'Sunny.' });
  const before = items;
  items = [];
  const reconnected = session.emitted('reconnected');
  current = second;
  void first.service.stop(60_000);
  await reconnected;
  configure();
  before.forEach(create);
  await ask(says('Thank you'));
  session.close();
  expect(items.slice(0, 4)).toEqual(before);
  expect(askedOf(second)).toEqual([
    [
      ...['user: call weather {"city": "Paris"}', 'assistant: ', 'tool: Sunny.'],
      ...['assistant: You said: call weather {"city": "Paris"}\nweather said: Sunny.', 'user: Thank you'],
    ],
  ]);
});

describeWith(['chromium'], 'live transcription in Chromium', () => {
  test('of a page elsewhere needs a client secret, and is refused in open mode', async () => {
    const pages = createServer((_request, response) => void response.end('<body>'));
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void pages.close());
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}`);
    /** The type of the first event, or of the failure. */
    const firstOf = ({ url }: TestService, secret: string) =>
      page.evaluate(
        ([address, key]) =>
          new Promise((resolve) => {
            const socket = new WebSocket(address!, ['realtime', `openai-insecure-api-key.${key!}`]);
            socket.onmessage = ({ data }) => resolve((JSON.parse(data as string) as { type: string }).type);
            socket.onerror = ({ type }) => resolve(type);
          }),
        [`${url.replace('http', 'ws')}/v1/realtime`, secret],
      );

    await using guarded = await startTestService({
      ...scriptedTranscription,
      env: { API_KEYS_FILE: 'keys.yaml' },
      files: { ...scriptedTranscription.files, 'keys.yaml': keysFile({ name: 'app' }) },
    });
    const secretOf = async ({ url }: TestService, headers = {}) => {
      const answer = await createApi(url).post('/v1/realtime/client_secrets', {}, headers);
      return (answer.body as { readonly value: string }).value;
    };
    expect(await firstOf(guarded, await secretOf(guarded, bearer(tokenOf('app'))))).toBe('session.created');
    expect(await firstOf(guarded, 'ek_unknown')).toBe('error');
    await using open = await startTestService(scriptedTranscription);
    expect(await firstOf(open, await secretOf(open))).toBe('error');
  });
});
