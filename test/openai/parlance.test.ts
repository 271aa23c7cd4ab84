/** Parlance as the provider of Parlance over /v1, with all three hosted engines: the front answers what the back answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type OpenAI from 'openai';
import { upload } from '../support/local-service.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createApi } from '../support/http.ts';
import { sdkOf, speech, words } from './support/audio.ts';

let back: TestService;
let front: TestService;
beforeAll(async () => {
  back = await startTestService({ env: { PARLANCE_SANDBOX: '1', API_KEYS: 'right' } });
  const provider = `baseUrl: "${back.url}/v1", apiKey: right`;
  const ears = '{ id: ears, remoteId: sandbox-transcribe, supports: [prompt, temperature, segment, word] }';
  const mouth =
    '{ id: mouth, remoteId: sandbox-speech, formats: [mp3, wav, ogg], supports: [speed, instructions], voices: [en, de] }';
  front = await startTestService({
    config: `engines:
  stt: { use: hosted-stt, ${provider}, models: [${ears}] }
  agent: { use: llm-agent, ${provider} }
  responses: { use: llm-agent, ${provider}, api: responses, models: [{ id: responding, remoteId: sandbox-chat }] }
  voice: { use: tts, ${provider}, models: [${mouth}] }
`,
  });
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await back[Symbol.asyncDispose]();
});

const ofFront = () => sdkOf(front);
const ofBack = () => sdkOf(back, { apiKey: 'right' });

it('only the chat models of the upstream service are discovered as chat models', async () => {
  await expect.poll(async () => (await chatIds()).length, { timeout: 10_000 }).toBeGreaterThan(1);
  for (const id of await chatIds()) expect(id).toMatch(/^(agent\/sandbox-chat.*|responding)$/);
});

async function chatIds(): Promise<string[]> {
  const { data } = (await createApi(front.url).get('/v1/models')).body as {
    data: { id: string; capabilities: string[] }[];
  };
  return data.filter(({ capabilities }) => capabilities.includes('chat')).map(({ id }) => id);
}

describe('a transcription', () => {
  const verbose = (sdk: OpenAI, model: string) =>
    sdk.audio.transcriptions.create({
      ...{ file: speech(), model, response_format: 'verbose_json' as const },
      timestamp_granularities: ['word', 'segment'],
    });

  it('has the text, the language, the segments and the words of the upstream service', async () => {
    const [through, direct] = [await verbose(ofFront(), 'ears'), await verbose(ofBack(), 'sandbox-transcribe')];
    expect(direct.segments?.length).toBeGreaterThan(1);
    expect(direct.words?.length).toBeGreaterThan(1);
    expect(through).toEqual(direct);
  });

  it.each(['srt', 'vtt', 'text'] as const)('has the %s of the back', async (response_format) => {
    const ask = (sdk: OpenAI, model: string) =>
      sdk.audio.transcriptions.create({ file: speech(), model, response_format });
    expect(await ask(ofFront(), 'ears')).toBe(await ask(ofBack(), 'sandbox-transcribe'));
  });

  it('has them in the native API, too', async () => {
    const ask = async (service: TestService, path: string) => {
      const response = await upload(service, words, { path, fields: { timestamps: 'word' } });
      return (await response.json()) as { segments: unknown; words: unknown };
    };
    const native = await ask(front, '/transcribe');
    const { segments = [], words: timed = [] } = await verbose(ofBack(), 'sandbox-transcribe');
    const ms = (seconds: number) => Math.round(seconds * 1000);
    expect(native).toMatchObject({
      segments: segments.map(({ start, end, text }) => ({ start_ms: ms(start), end_ms: ms(end), text: text.trim() })),
      words: timed.map(({ start, end, word }) => ({ start_ms: ms(start), end_ms: ms(end), text: word })),
    });
  });
});

describe('speech', () => {
  const wav = async (sdk: OpenAI, model: string, more: object = {}) => {
    const request = { model, voice: 'de', input: 'Guten Morgen.', response_format: 'wav' as const, ...more };
    return Buffer.from(await (await sdk.audio.speech.create(request)).arrayBuffer());
  };

  it.each([{}, { voice: 'en' }, { speed: 2 }, { instructions: 'Higher!' }])('is that of the back: %o', async (more) => {
    const through = await wav(ofFront(), 'mouth', more);
    expect(through.length).toBeGreaterThan(1000);
    expect(through.equals(await wav(ofBack(), 'sandbox-speech', more))).toBe(true);
  });

  it('is mp3 by default', async () => {
    const response = await ofFront().audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Good morning.' });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(response.headers.get('x-parlance-model')).toBe('mouth');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(500);
  });
});

describe.each([
  ['completions', 'agent/sandbox-chat'],
  ['responses', 'responding'],
])('a chat by %s', (_api, model) => {
  const said = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

  it('has the content, the reasoning and the usage of the upstream service, whole and streamed', async () => {
    const body = said('think: a bit\nHello there.');
    const direct = await ofBack().chat.completions.create({ ...body, model: 'sandbox-chat' });
    const through = await ofFront().chat.completions.create({ ...body, model });
    expect(through.choices[0]?.message).toEqual(direct.choices[0]?.message);
    expect(through.choices[0]?.message).toMatchObject({ reasoning_content: 'a bit' });
    expect(through.usage).toEqual(direct.usage);
    const stream = ofFront().chat.completions.stream({ ...body, model, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(direct.choices[0]?.message.content);
    expect(streamed.usage).toEqual(direct.usage);
  });

  it.each([false, true])(
    'has the calls of the caller’s tools, and takes their results; stream: %s',
    async (isStream) => {
      const ask = (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const tools = [{ type: 'function' as const, function: { name: 'repeat', parameters: { type: 'object' } } }];
        const body = { model, messages, tools };
        const { completions } = ofFront().chat;
        return isStream ? completions.stream(body).finalChatCompletion() : completions.create(body);
      };
      const { messages } = said('call repeat "alpha"');
      const [choice] = (await ask(messages)).choices;
      expect(choice).toMatchObject({
        finish_reason: 'tool_calls',
        message: { tool_calls: [{ type: 'function', function: { name: 'repeat', arguments: '{"text":"alpha"}' } }] },
      });
      const call = choice!.message.tool_calls![0]!;
      const history = [
        ...messages,
        choice!.message,
        { role: 'tool' as const, tool_call_id: call.id, content: 'alpha!' },
      ];
      const [answer] = (await ask(history)).choices;
      expect(answer?.finish_reason).toBe('stop');
      expect(answer?.message.content).toContain('alpha!');
    },
  );

  it('that fails in the middle of the upstream answer is a failure of the provider', async () => {
    const asked = ofFront().chat.completions.create({ ...said('fail: context-length-exceeded'), model });
    await expect(asked).rejects.toMatchObject({ status: 502, code: 'provider_error' });
  });
});

it('a wrong key is a failure of the provider, not of the caller', async () => {
  const config = `engines: { stt: { use: hosted-stt, baseUrl: "${back.url}/v1", apiKey: wrong, models: [ears] } }`;
  await using stranger = await startTestService({ config });
  const asked = sdkOf(stranger).audio.transcriptions.create({ file: speech(), model: 'ears' });
  await expect(asked).rejects.toMatchObject({ status: 502, code: 'provider_auth_failed' });
});
