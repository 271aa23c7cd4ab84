/** The agent, the voice and the clips are real; only the model is a mock, by a third party. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { readStream, type EventOf } from '../chat/support/stream.ts';
import { wordsIn } from '../engines/espeak/support.ts';
import { createApi } from '../support/http.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The texts that the model has read aloud: two at once, the second of which is shorter and ready first, then one more. */
const texts = ['yes no hello, yes no hello, yes no hello', 'banana', 'open seven'];

/** Arguments that the model may not choose. */
const others = { voice: 'de', voice_id: 'de', model: 'other', tts_model: 'other' };

const calls = texts.map((text) => ({ name: 'read_aloud', arguments: JSON.stringify({ text, ...others }) }));

const question = {
  messages: [{ role: 'user', content: 'Read these words to me.' }],
  voice_id: 'en-us',
};

let mock: LLMock;
let service: TestService;

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const config = `
    engines:
      mock: { use: llm-agent, baseUrl: "${mock.url}/v1", models: [reader] }
      espeak: { use: espeak }`;
  service = await startTestService({ config });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
beforeEach(() => {
  mock.on({ userMessage: /Read/, turnIndex: 0 }, { toolCalls: calls.slice(0, 2) });
  mock.on({ userMessage: /Read/, turnIndex: 1 }, { toolCalls: calls.slice(2) });
  mock.on({ userMessage: /Read/, turnIndex: 2 }, { content: 'You hear them.' });
});
afterEach(() => void mock.reset());

/** The address and media type of each clip. */
interface Enclosure {
  readonly url: string;
  readonly content_type: string;
}

/** By the plain answer's Link headers. */
async function chat(): Promise<Enclosure[]> {
  const { body, headers } = await createApi(service.url).post('/api/v1/chat', question);
  expect(body).toMatchObject({ content: 'You hear them.', finish_reason: 'stop' });
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="enclosure"; type="([^"]*)"/g);
  return [...links].map(([, url = '', content_type = '']) => ({ url, content_type }));
}

/** By the stream's events, in the order of the calls that made them. */
async function stream(): Promise<Enclosure[]> {
  const { events } = await readStream(service.url, question);
  expect(events.at(-1)).toMatchObject({ type: 'chat.completed', result: { content: 'You hear them.' } });
  const of = <Type extends 'tool.started' | 'audio.created' | 'tool.finished'>(type: Type) =>
    events.filter((event): event is EventOf<Type> => event.type === type);
  const started = of('tool.started');
  expect(started.map(({ step, arguments: args }) => ({ step, args }))).toEqual(
    texts.map((text, index) => ({ step: index < 2 ? 0 : 1, args: { text, ...others } })),
  );
  expect(of('tool.finished').map(({ ok }) => ok)).toEqual([true, true, true]);
  const created = new Map(of('audio.created').map(({ id, audio }) => [id, audio]));
  expect(created.size).toBe(texts.length);
  return started.map(({ id }) => created.get(id)!);
}

async function speech(text: string, voice_id?: string): Promise<Buffer> {
  const response = await service.post('/tts', { text, voice_id });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describeWith(['ffmpeg', 'pocketsphinx_continuous'], 'a model that reads aloud, twice at once and once more', () => {
  test.each([
    ['links its clips in the order of the calls', chat],
    ['announces its clips in the stream', stream],
  ])('%s, and speaks with the voice of the caller', { timeout: 30_000 }, async (_how, ask) => {
    const enclosures = await ask();
    expect(enclosures.map(({ content_type }) => content_type)).toEqual(texts.map(() => 'audio/mpeg'));
    const clips = await Promise.all(
      enclosures.map(async ({ url }) => Buffer.from(await (await fetch(new URL(url, service.url))).arrayBuffer())),
    );
    for (const [index, text] of texts.entries()) {
      const clip = clips[index]!;
      expect(await wordsIn(clip)).toBe(text.replaceAll(',', ''));
      expect(clip.equals(await speech(text, 'en-us')), 'the voice of the caller').toBe(true);
      for (const other of ['de', undefined]) expect(clip.equals(await speech(text, other)), other).toBe(false);
    }
  });

  test('cannot choose a voice, and does not see clip URLs', async () => {
    const { url } = (await chat())[0]!;
    const requests = JSON.stringify(mock.getRequests().map(({ body }) => body));
    const offered = mock.getRequests()[0]!.body as { tools: { function: { parameters: { properties: object } } }[] };
    expect(Object.keys(offered.tools[0]!.function.parameters.properties)).toEqual(['text', 'language']);
    expect(url).toMatch(/\/tts\/clips\/[\w.-]{22,}$/);
    expect(requests).not.toContain(url.slice(-22));
  });
});
