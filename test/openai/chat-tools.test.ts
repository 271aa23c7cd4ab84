/** Whose tools are in the request, his is the loop. */
import type OpenAI from 'openai';
import type { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import { calls, says, sentTo } from '../engines/llm-agent/support.ts';
import { answers } from '../support/provider.ts';
import { createOpenAI, question, startChatService, startMcp } from './support/chat.ts';

type Sent = Record<string, unknown> & { readonly tools?: readonly { readonly function: { readonly name: string } }[] };

const messages = [...question];
const weather: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};
const asksForWeather = calls({ id: 'call_1', name: 'weather', args: '{"city":"Paris"}' });

const toolNames = (sent: Sent | undefined) => sent?.tools?.map((tool) => tool.function.name);

describe('with tools of the caller', () => {
  it('the calls are the answer, and none of the service’s tools is offered', async () => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService(asksForWeather, { settings: mcp.settings });
    const { choices } = await openai.chat.completions.create({
      ...{ model: 'remote', messages, tools: [weather], tool_choice: 'required' },
    });
    expect(choices).toEqual([
      {
        index: 0,
        message: {
          ...{ role: 'assistant', content: null, refusal: null },
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ]);
    expect(await sentTo(provider)).toMatchObject([{ tools: [weather], tool_choice: 'required' }]);
  });

  it('a stream has every call in one chunk', async () => {
    const behavior = calls(
      { id: 'a', name: 'weather', args: '{}' },
      { id: 'b', name: 'weather', args: '{"city":"Rome"}' },
    );
    const { openai } = await startChatService(behavior);
    const stream = await openai.chat.completions.create({ model: 'remote', messages, tools: [weather], stream: true });
    const deltas: unknown[] = [];
    for await (const { choices } of stream) deltas.push(choices[0]);
    const call = (index: number, id: string, args: string) => ({
      ...{ index, id, type: 'function', function: { name: 'weather', arguments: args } },
    });
    expect(deltas).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      { index: 0, delta: { tool_calls: [call(0, 'a', '{}'), call(1, 'b', '{"city":"Rome"}')] }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'tool_calls' },
    ]);
  });

  it('runTools runs only the caller’s', async () => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService([asksForWeather, says('Sunny in Paris.')], {
      settings: mcp.settings,
    });
    const ran: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      model: 'remote',
      messages,
      tools: [
        {
          type: 'function',
          function: {
            ...{ name: 'weather', description: 'The weather of a city.', parameters: { type: 'object' } },
            parse: JSON.parse,
            function: (args: unknown) => {
              ran.push(args);
              return 'Sunny.';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Sunny in Paris.');
    expect(ran).toEqual([{ city: 'Paris' }]);
    const sent = (await sentTo(provider)) as Sent[];
    expect(sent.map(toolNames)).toEqual([['weather'], ['weather']]);
    expect(sent[1]?.messages).toMatchObject([
      messages[0],
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' },
    ]);
    expect(mcp.calls).toEqual([]);
  });

  it('in the history, none of the service’s tools is offered either', async () => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService(says('Sunny.'), { settings: mcp.settings });
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } } as const;
    await openai.chat.completions.create({
      model: 'remote',
      messages: [
        ...messages,
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' },
      ],
    });
    const [sent] = (await sentTo(provider)) as Sent[];
    expect(toolNames(sent)).toBeUndefined();
  });
});

describe('without tools of the caller', () => {
  const adds = calls({ id: 'x', name: 'calc__add', args: '{"a":2,"b":40}' });

  it('a run that fails after a tool has run is not retried: the tool has run once', async () => {
    const mcp = await startMcp();
    const failure = answers(503, { error: { message: 'Later.' } }, { 'retry-after': '1' });
    const { service, provider } = await startChatService([adds, failure], { settings: mcp.settings });
    const openai = createOpenAI(service.url, { maxRetries: 2 });
    const error: unknown = await openai.chat.completions.create({ model: 'remote', messages }).catch((e: unknown) => e);
    expect(error).toMatchObject({ status: 503, code: 'provider_overloaded' });
    expect((error as APIError).headers?.get('x-should-retry')).toBe('false');
    expect(mcp.calls).toEqual([{ a: 2, b: 40 }]);
    const asked = (await sentTo(provider)).map((sent) => (sent.messages as unknown[]).length);
    expect(asked.filter((count) => count === 1)).toHaveLength(1);
  });

  it('the native API still offers read_aloud', async () => {
    const { service, provider } = await startChatService(says('Hi.'));
    await service.post('/chat', { messages, model: 'remote' });
    const [sent] = (await sentTo(provider)) as Sent[];
    expect(toolNames(sent)).toEqual(['read_aloud']);
  });
});
