/** Chat completions with aimock, a third-party mock provider, behind the service and the SDK in front of it. */
import { LLMock } from '@copilotkit/aimock';
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createOpenAI } from './support/chat.ts';

let mock: LLMock;
let service: TestService;
let openai: OpenAI;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const cloud = `{ use: llm-agent, baseUrl: "${mock.url}/v1", apiKey: mock, models: [gpt-4o] }`;
  service = await startTestService({ config: `engines: { cloud: ${cloud} }` });
  openai = createOpenAI(service.url);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
afterEach(() => void mock.reset());

const ask = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'What is the weather in Paris?' }] };
const weather = { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } };

it('an answer reads the same whole and in chunks, reasoning and usage included', async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  mock.onMessage(/Paris/, { content: 'Sunny in Paris, all day long.', reasoning: 'Which city? Paris.', usage });
  const whole = await openai.chat.completions.create(ask);
  const streaming = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
  const streamed = await streaming.finalChatCompletion();
  expect(whole.choices[0]?.message).toMatchObject({
    content: 'Sunny in Paris, all day long.',
    reasoning_content: 'Which city? Paris.',
  });
  expect(streamed.choices[0]?.message).toMatchObject({ content: 'Sunny in Paris, all day long.' });
  expect(streamed.usage).toEqual(whole.usage);
  expect(whole.usage).toMatchObject(usage);
});

it.each([false, true])('parallel calls of the tools of the caller come back; stream: %s', async (isStream) => {
  const toolCalls = ['Paris', 'Rome'].map((city) => ({ name: 'weather', arguments: JSON.stringify({ city }) }));
  mock.onMessage(/Paris/, { toolCalls });
  const body = { ...ask, tools: [weather] };
  const { choices } = isStream
    ? await openai.chat.completions.stream(body).finalChatCompletion()
    : await openai.chat.completions.create(body);
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: toolCalls.map((call) => ({ type: 'function', function: call })) },
  });
  expect(mock.getRequests()).toHaveLength(1);
});
