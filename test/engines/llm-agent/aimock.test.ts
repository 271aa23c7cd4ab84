/** Chats against aimock, a third-party mock provider. test/engines/providers has its failures. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openAgent, tool, weather } from './support.ts';

let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
});
afterAll(() => mock.stop());
afterEach(() => void mock.reset());

const open = (options: object = {}) =>
  openAgent({ baseUrl: `${mock.url}/v1`, apiKey: 'mock', models: ['gpt-4o'], ...options });
const toolCalls = [
  { name: 'weather', arguments: '{"city":"Paris"}' },
  { name: 'weather', arguments: '{"city":"Rome"}' },
];

describe.each(['chat', 'responses'])('with aimock, by %s', (api) => {
  test('a chat is answered', async () => {
    mock.onMessage(/France/, { content: 'The capital of France is Paris.' });
    const { run } = await open({ api });
    const events = await run();
    const deltas = events.filter((event) => event.type === 'content-delta').map(({ delta }) => delta);
    expect(deltas.join('')).toBe('The capital of France is Paris.');
    expect(events.at(-1)).toMatchObject({ result: { content: deltas.join(''), finishReason: 'stop' } });
  });

  test('parallel tool calls are run', async () => {
    mock.on({ userMessage: /France/, hasToolResult: false }, { toolCalls });
    mock.on({ userMessage: /France/, hasToolResult: true }, { content: 'Sunny in both.' });
    const { run } = await open({ api });
    const events = await run({ tools: [weather] });
    const finished = events.filter((event) => event.type === 'tool-finished').map(({ output }) => output);
    expect(finished).toEqual(['Sunny in Paris.', 'Sunny in Rome.']);
    expect(events.at(-1)).toMatchObject({ result: { content: 'Sunny in both.', finishReason: 'stop' } });
    expect(mock.getRequests()).toHaveLength(2);
  });

  test('calls of the caller’s tools are returned, and answered by the caller', async () => {
    mock.on({ userMessage: /France/, hasToolResult: false }, { toolCalls });
    mock.on({ userMessage: /France/, hasToolResult: true }, { content: 'Sunny in both.' });
    const { name, description, parameters } = weather;
    const callerTools = [{ name, description, parameters }];
    const { ask } = await open({ api });
    const first = await ask({ callerTools });
    expect(first).toMatchObject({ finishReason: 'tool_calls', toolCalls });
    const called = first.toolCalls ?? [];
    const second = await ask({
      callerTools,
      messages: [
        { role: 'user', content: 'What is the capital of France?' },
        { role: 'assistant', content: first.content, toolCalls: called },
        ...called.map(({ id }) => ({ role: 'tool', toolCallId: id, content: 'Sunny.' }) as const),
      ],
    });
    expect(second).toMatchObject({ content: 'Sunny in both.', finishReason: 'stop' });
    expect(mock.getRequests()).toHaveLength(2);
  });

  test('reasoning is returned', async () => {
    mock.onMessage(/France/, { content: 'Paris.', reasoning: 'Which country? France.' });
    expect(await (await open({ api })).ask()).toMatchObject({ content: 'Paris.', reasoning: 'Which country? France.' });
  });

  test('usage is summed', async () => {
    const counts =
      api === 'chat'
        ? { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
        : { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
    mock.on({ userMessage: /France/, hasToolResult: false }, { toolCalls: toolCalls.slice(1), usage: counts });
    mock.on({ userMessage: /France/, hasToolResult: true }, { content: 'Sunny.', usage: counts });
    const { usage } = await (await open({ api })).ask({ tools: [weather] });
    expect(usage).toEqual({ promptTokens: 10, completionTokens: 4, totalTokens: 14, reasoningTokens: 0 });
  });

  test('the model receives the error of a tool', async () => {
    mock.on({ userMessage: /France/, hasToolResult: false }, { toolCalls: [{ name: 'bad', arguments: '{}' }] });
    mock.on({ toolResultContains: 'out of order' }, { content: 'I cannot.' });
    const bad = tool('bad', () => {
      throw new Error('out of order');
    });
    expect(await (await open({ api })).ask({ tools: [bad] })).toMatchObject({ content: 'I cannot.' });
  });

  test('a truncated stream is not an answer', async () => {
    mock.on(
      { userMessage: /France/ },
      { content: 'The capital of France is Paris.' },
      { truncateAfterChunks: 3, latency: 10 },
    );
    await expect((await open({ api })).ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
  });

  test('garbage is not an answer', async () => {
    mock.on({ userMessage: /France/ }, { content: 'Paris.' }, { chaos: { malformedRate: 1 } });
    await expect((await open({ api })).ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
  });
});

test('its models are served', async () => {
  const { models } = await open({ models: undefined });
  await expect.poll(() => models().length).toBeGreaterThan(0);
});

test('finish reason length is returned', async () => {
  mock.onMessage(/France/, { content: 'The capital', finishReason: 'length' });
  expect(await (await open()).ask({ maxTokens: 2 })).toMatchObject({
    content: 'The capital',
    finishReason: 'length',
  });
});
