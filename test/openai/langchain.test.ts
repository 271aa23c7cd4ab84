/** LangChain's ChatOpenAI against the OpenAI-compatible API, with aimock, a third-party mock provider, behind it. */
import { LLMock } from '@copilotkit/aimock';
import { HumanMessage, SystemMessage, ToolMessage, type AIMessageChunk } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestService, type TestService } from '../support/service.ts';

let mock: LLMock;
let service: TestService;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  const cloud = `{ use: llm-agent, baseUrl: "${mock.url}/v1", apiKey: mock, models: [gpt-4o, o3] }`;
  service = await startTestService({ config: `engines: { cloud: ${cloud} }` });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mock.stop();
});
afterEach(() => void mock.reset());

const chat = (fields: ChatOpenAIFields = {}) =>
  new ChatOpenAI({
    ...{ model: 'gpt-4o', apiKey: 'sk-none', maxRetries: 0 },
    ...fields,
    configuration: { baseURL: `${service.url}/v1` },
  });

const question = 'What is the weather in Paris?';
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const counted = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };

/** The body of the last request that the provider has received. */
const lastBody = () => mock.getRequests().at(-1)?.body as unknown as Record<string, unknown>;

/** A streamed answer as one message. (`streaming: true` would download a tokenizer.) */
async function joined(stream: Promise<AsyncIterable<AIMessageChunk>>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const piece of await stream) whole = whole?.concat(piece) ?? piece;
  return whole!;
}

const weather = tool(({ city }) => `Sunny in ${city}.`, {
  name: 'weather',
  description: 'The weather of a city.',
  schema: z.object({ city: z.string() }),
});

it('invoke has the text, the usage and the finish reason', async () => {
  mock.onMessage(/Paris/, { content: 'Sunny.', usage });
  const answer = await chat().invoke(question);
  expect(answer.text).toBe('Sunny.');
  expect(answer.usage_metadata).toMatchObject(counted);
  expect(answer.response_metadata).toMatchObject({ finish_reason: 'stop' });
});

it('stream has the text and the usage', async () => {
  mock.onMessage(/Paris/, { content: 'Sunny in Paris, all day long.', usage });
  const whole = await joined(chat().stream(question));
  expect(whole.text).toBe('Sunny in Paris, all day long.');
  expect(whole.usage_metadata).toMatchObject(counted);
});

describe('useResponsesApi', () => {
  it('invoke and stream have the text and the usage', async () => {
    mock.onMessage(/Paris/, { content: 'Sunny in Paris, all day long.', usage });
    const model = chat({ useResponsesApi: true });
    for (const answer of [await model.invoke(question), await joined(model.stream(question))]) {
      expect(answer.text).toBe('Sunny in Paris, all day long.');
      expect(answer.usage_metadata).toMatchObject(counted);
    }
  });

  it.each([false, true])('bindTools has the calls, and takes their results; stream: %s', async (isStream) => {
    mock.onMessage(/tomorrow/, { content: 'Rain.' });
    mock.on(
      { userMessage: /Paris/, hasToolResult: false },
      { toolCalls: [{ name: 'weather', arguments: '{"city":"Paris"}' }] },
    );
    mock.on({ userMessage: /Paris/, hasToolResult: true }, { content: 'It is sunny.' });
    const model = chat({ useResponsesApi: true }).bindTools([weather]);
    const asked = new HumanMessage(question);
    const answer = await (isStream ? joined(model.stream([asked])) : model.invoke([asked]));
    const call = answer.tool_calls![0]!;
    expect(call).toMatchObject({ name: 'weather', args: { city: 'Paris' } });
    const result = await weather.invoke<typeof call, ToolMessage>(call);
    const last = await model.invoke([asked, answer, result]);
    expect(last.text).toBe('It is sunny.');
    const again = await model.invoke([asked, answer, result, last, new HumanMessage('And tomorrow?')]);
    expect(again.text).toBe('Rain.');
    expect(lastBody().messages).toMatchObject([
      { role: 'user', content: question },
      { role: 'assistant', tool_calls: [{ id: call.id, function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: call.id, content: 'Sunny in Paris.' },
      { role: 'assistant', content: 'It is sunny.' },
      { role: 'user' },
    ]);
  });

  it('structured output works', async () => {
    mock.onMessage(/Paris/, { content: JSON.stringify({ city: 'Paris', celsius: 21 }) });
    const schema = z.object({ city: z.string(), celsius: z.number() });
    const structured = chat({ useResponsesApi: true }).withStructuredOutput(schema);
    expect(await structured.invoke(question)).toEqual({ city: 'Paris', celsius: 21 });
    expect(lastBody().response_format).toMatchObject({ type: 'json_schema' });
  });
});

it('reasoning is in additional_kwargs', async () => {
  mock.onMessage(/Paris/, { content: 'Sunny.', reasoning: 'Which city?' });
  const answer = await chat().invoke(question);
  expect(answer.additional_kwargs).toMatchObject({ reasoning_content: 'Which city?' });
});

describe('bindTools', () => {
  it.each([false, true])('has the calls, and takes their results; stream: %s', async (isStream) => {
    mock.on(
      { userMessage: /Paris/, hasToolResult: false },
      { toolCalls: [{ name: 'weather', arguments: '{"city":"Paris"}' }] },
    );
    mock.on({ userMessage: /Paris/, hasToolResult: true }, { content: 'It is sunny.' });
    const model = chat().bindTools([weather]);
    const asked = new HumanMessage(question);
    const answer = await (isStream ? joined(model.stream([asked])) : model.invoke([asked]));
    const [call] = answer.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'weather', args: { city: 'Paris' }, id: expect.any(String) as string });
    const result = await weather.invoke<NonNullable<typeof call>, ToolMessage>(call!);
    expect((await model.invoke([asked, answer, result])).text).toBe('It is sunny.');
    expect(lastBody().messages).toMatchObject([
      { role: 'user', content: question },
      { role: 'assistant', tool_calls: [{ id: call!.id, function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: call!.id, content: 'Sunny in Paris.' },
    ]);
  });
});

it('the developer role of models of the o series is a system message', async () => {
  mock.onMessage(/Paris/, { content: 'Sunny.' });
  const answer = await chat({ model: 'o3' }).invoke([new SystemMessage('Be brief.'), new HumanMessage(question)]);
  expect(answer.text).toBe('Sunny.');
  expect(lastBody().messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: question },
  ]);
});

it.each(['jsonSchema', 'functionCalling', 'jsonMode'] as const)('structured output works by %s', async (method) => {
  const args = JSON.stringify({ city: 'Paris', celsius: 21 });
  mock.onMessage(
    /Paris/,
    method === 'functionCalling' ? { toolCalls: [{ name: 'extract', arguments: args }] } : { content: args },
  );
  const schema = z.object({ city: z.string(), celsius: z.number() });
  const structured = chat().withStructuredOutput(schema, { method });
  expect(await structured.invoke(question)).toEqual({ city: 'Paris', celsius: 21 });
  if (method === 'jsonSchema') {
    expect(lastBody().response_format).toMatchObject({ type: 'json_schema', json_schema: { name: 'extract' } });
  }
});

it('a rejection is an error with the status and the message of the service', async () => {
  const asked = chat({ model: 'absent' }).invoke(question);
  await expect(asked).rejects.toMatchObject({ status: 404, message: expect.stringContaining('absent') as string });
});
