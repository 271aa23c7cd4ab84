/** Vercel's AI SDK against the OpenAI-compatible API: `@ai-sdk/openai` for audio and responses, `@ai-sdk/openai-compatible` for chats. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateSpeech, generateText, isStepCount, streamText, tool, transcribe } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { content, reasoning, stepStarted, type Script } from '../chat/support/script.ts';
import { calls as callsTools, chunk, says, sentTo, streams, usageChunk } from '../engines/llm-agent/support.ts';
import { serveSandbox } from '../sandbox/support.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { calls, scriptedTranscription, words } from './support/audio.ts';
import { startChatService, type ChatService } from './support/chat.ts';

const openaiAt = ({ url }: Pick<TestService, 'url'>) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-none' });

describe('transcribe', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(scriptedTranscription);
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const send = (model: string) =>
    transcribe({ model: openaiAt(service).transcription(model), audio: words, maxRetries: 0 });

  it('with whisper-1 has segments, the language and the duration', async () => {
    const result = await send('whisper-1');
    expect(result).toMatchObject({ text: 'Guten Morgen, Welt.', language: 'de', durationInSeconds: 2.099 });
    expect(result.segments).toEqual([
      { text: 'Guten Morgen,', startSecond: 0, endSecond: 0.9 },
      { text: ' Welt.', startSecond: 0.9, endSecond: 2 },
    ]);
    expect(calls(service).at(-1)).toEqual({ model: 'full', timestamps: ['segment'] });
  });

  it('with the id of a model has its text', async () => {
    expect(await send('plain')).toMatchObject({ text: 'Guten Morgen, Welt.' });
    expect(calls(service).at(-1)).toEqual({ model: 'plain' });
  });

  it('has the message and the status of a failure', async () => {
    const failed: unknown = await send('absent').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APICallError);
    expect(failed).toMatchObject({ statusCode: 404, message: expect.stringContaining('absent') as string });
  });
});

describe('generateSpeech', () => {
  const sandbox = serveSandbox();

  it.each([
    [undefined, 'audio/mpeg'],
    ['wav', 'audio/wav'],
  ])('with tts-1 and alloy: %s', async (outputFormat, mediaType) => {
    const { audio } = await generateSpeech({
      ...{ model: openaiAt(sandbox.service).speech('tts-1'), voice: 'alloy', text: 'Good morning.' },
      ...(outputFormat !== undefined && { outputFormat }),
    });
    expect(audio.mediaType).toBe(mediaType);
    expect(audio.uint8Array.length).toBeGreaterThan(1_000);
  });
});

const compatible = ({ service }: Pick<ChatService, 'service'>, settings: { readonly includeUsage?: boolean } = {}) =>
  createOpenAICompatible({ name: 'parlance', baseURL: `${service.url}/v1`, apiKey: 'sk-none', ...settings });

const paris = streams(
  chunk({ reasoning: 'Hm.' }),
  ...[chunk({ content: 'Paris.' }), chunk({}, 'stop')],
  usageChunk(14, 3, { reasoning_tokens: 1 }),
);

const prompt = 'What is the capital of France?';

describe('generateText', () => {
  it('has the text, the reasoning, the usage and the finish reason', async () => {
    const chatService = await startChatService(paris);
    const result = await generateText({ model: compatible(chatService)('remote'), prompt });
    expect(result).toMatchObject({ text: 'Paris.', reasoningText: 'Hm.', finishReason: 'stop' });
    expect(result.usage).toMatchObject({ inputTokens: 14, outputTokens: 3, totalTokens: 17 });
  });

  it('by @ai-sdk/openai works with .chat()', async () => {
    const { service } = await startChatService(says('Paris.'));
    const result = await generateText({ model: openaiAt(service).chat('remote'), prompt });
    expect(result.text).toBe('Paris.');
  });
});

describe('the default of @ai-sdk/openai', () => {
  const weather = tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `Sunny in ${city}.`,
  });
  const asksForWeather = callsTools({ id: 'call_1', name: 'weather', args: '{"city":"Paris"}' });

  it('is responses, with text, reasoning and usage', async () => {
    const { service } = await startChatService(paris);
    const result = await generateText({ model: openaiAt(service)('remote'), prompt });
    expect(result).toMatchObject({ text: 'Paris.', reasoningText: 'Hm.', finishReason: 'stop' });
    expect(result.usage).toMatchObject({ inputTokens: 14, outputTokens: 3, totalTokens: 17 });
  });

  // Without `store: false` it refers to the texts of earlier answers by their ids.
  it.each([undefined, false])(
    'runs its tools, and knows the conversation in the next turn; store: %s',
    async (store) => {
      const { service, provider } = await startChatService([asksForWeather, says('Sunny in Paris.'), says('Paris.')]);
      const settings = {
        model: openaiAt(service)('remote'),
        ...{ stopWhen: isStepCount(3), tools: { weather }, maxRetries: 0 },
        ...(store !== undefined && { providerOptions: { openai: { store } } }),
      };
      const asked = { role: 'user' as const, content: 'What is the weather in Paris?' };
      const first = streamText({ ...settings, messages: [asked] });
      expect(await first.text).toBe('Sunny in Paris.');
      const messages = await first.responseMessages;
      const again = { role: 'user' as const, content: 'Which city was it?' };
      const second = await generateText({ ...settings, messages: [asked, ...messages, again] });
      expect(second.text).toBe('Paris.');
      const sent = await sentTo(provider);
      expect(sent.at(-1)?.messages).toMatchObject([
        asked,
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny in Paris.' },
        { role: 'assistant', content: 'Sunny in Paris.' },
        again,
      ]);
    },
  );

  it('has an error part when the answer fails in its middle', async () => {
    const { service } = await startChatService(says(''));
    const script: Script = [stepStarted(0), content(0, 'Par'), { fail: 'provider-overloaded' }];
    const result = streamText({
      ...{ model: openaiAt(service)('scripted'), prompt: JSON.stringify(script), maxRetries: 0 },
      onError: () => undefined,
    });
    const types: string[] = [];
    for await (const part of result.stream) types.push(part.type);
    expect(types).toContain('error');
  });
});

describe('streamText', () => {
  it.each([
    [true, { inputTokens: 14, outputTokens: 3, totalTokens: 17 }],
    [false, { inputTokens: undefined, outputTokens: undefined }],
  ])('has the text and the reasoning; includeUsage: %s', async (includeUsage, usage) => {
    const chatService = await startChatService(paris);
    const result = streamText({ model: compatible(chatService, { includeUsage })('remote'), prompt });
    expect(await result.text).toBe('Paris.');
    expect((await result.finalStep).reasoningText).toBe('Hm.');
    expect(await result.finishReason).toBe('stop');
    expect(await result.usage).toMatchObject(usage);
  });

  it('runs its tools and sends their results', async () => {
    const chatService = await startChatService([
      callsTools({ id: 'call_1', name: 'weather', args: '{"city":"Paris"}' }),
      says('Sunny in Paris.'),
    ]);
    const result = streamText({
      model: compatible(chatService)('remote'),
      prompt: 'What is the weather in Paris?',
      stopWhen: isStepCount(3),
      tools: {
        weather: tool({
          description: 'The weather of a city.',
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => `Sunny in ${city}.`,
        }),
      },
    });
    expect(await result.text).toBe('Sunny in Paris.');
    const [first, last] = await result.steps;
    expect(first).toMatchObject({
      finishReason: 'tool-calls',
      toolCalls: [{ toolName: 'weather', input: { city: 'Paris' } }],
      toolResults: [{ output: 'Sunny in Paris.' }],
    });
    expect(last).toMatchObject({ finishReason: 'stop', toolCalls: [] });
    const sent = await sentTo(chatService.provider);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny in Paris.' },
    ]);
  });

  it('has an error part when the answer fails in its middle', async () => {
    const chatService = await startChatService(says(''));
    const script: Script = [stepStarted(0), reasoning(0, 'Hm.'), content(0, 'Par'), { fail: 'provider-overloaded' }];
    const seen: unknown[] = [];
    const result = streamText({
      model: compatible(chatService)('scripted'),
      prompt: JSON.stringify(script),
      maxRetries: 2,
      onError: () => undefined, // it would print it
    });
    let failure: unknown;
    for await (const part of result.stream) {
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') seen.push(part.text);
      if (part.type === 'error') failure = part.error;
    }
    expect(seen).toEqual(['Hm.', 'Par']);
    expect(JSON.stringify(failure) + String(failure)).toContain('It failed.');
    expect(chatService.service.log.filter(({ msg }) => msg === 'began')).toHaveLength(1);
  });

  it('fails with the message of the service before the answer has begun', async () => {
    const chatService = await startChatService(says(''));
    const asked = generateText({ model: compatible(chatService)('absent'), prompt, maxRetries: 0 });
    await expect(asked).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining('absent') as string,
    });
  });
});
