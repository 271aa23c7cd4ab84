/** Tools that the caller runs, and the further fields that a caller may send: the engine is a plain model then. */
import { describe, expect, test } from 'vitest';
import type { CallerTool, Message, ToolChoice } from '../../../engines/contract/index.ts';
import { answers, type Behavior } from '../../support/provider.ts';
import {
  calls,
  chunk,
  openWithDiscovery,
  says,
  sentTo,
  startAgent,
  streams,
  streamsOnly,
  tool,
  weather,
  type RunOptions,
} from './support.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const forecast: CallerTool = { name: 'forecast', description: 'Looks it up.', parameters };
const bare: CallerTool = { name: 'now' };
const question: Message = { role: 'user', content: 'Will it rain?' };

/** A tool of the service, which must not run. */
const ours = tool('ours', () => {
  throw new Error('a tool of the service ran');
});

const response = (status: string, more: object = {}) => ({
  type: status === 'incomplete' ? 'response.incomplete' : 'response.completed',
  response: { id: 'resp_1', object: 'response', status, error: null, output: [], usage: null, ...more },
});

interface SentCall {
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** The answers of a provider, and the form of what it is sent, for each API. */
const apis = {
  chat: {
    says,
    calls: (...list: readonly SentCall[]): Behavior =>
      streams(
        chunk({ reasoning: 'Hm.' }),
        chunk({ content: 'I look.' }),
        ...list.map(({ id, name, args }, index) =>
          chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] }),
        ),
        chunk({}, 'tool_calls'),
      ),
    cut: (name: string): Behavior =>
      streams(
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name, arguments: '{"ci' } }] }),
        chunk({}, 'length'),
      ),
    tools: [
      { type: 'function', function: { name: 'forecast', description: 'Looks it up.', parameters } },
      { type: 'function', function: { name: 'now' } },
    ],
    choice: { type: 'function', function: { name: 'forecast' } },
    historyField: 'messages',
    call: (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } }),
  },
  responses: {
    says: (text: string): Behavior =>
      events({ type: 'response.output_text.delta', item_id: 'm', delta: text }, response('completed')),
    calls: (...list: readonly SentCall[]): Behavior =>
      events(
        { type: 'response.reasoning_text.delta', item_id: 'r', content_index: 0, delta: 'Hm.' },
        { type: 'response.output_text.delta', item_id: 'm', delta: 'I look.' },
        ...list.map(({ id, name, args }, output_index) => ({
          ...{ type: 'response.output_item.done', output_index },
          item: { type: 'function_call', call_id: id, name, arguments: args },
        })),
        response('completed'),
      ),
    cut: (name: string): Behavior =>
      events(
        {
          type: 'response.output_item.done',
          item: { type: 'function_call', status: 'incomplete', call_id: 'a', name, arguments: '{"ci' },
        },
        response('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }),
      ),
    tools: [
      { type: 'function', name: 'forecast', description: 'Looks it up.', parameters, strict: false },
      { type: 'function', name: 'now', parameters: { type: 'object', properties: {} }, strict: false },
    ],
    choice: { type: 'function', name: 'forecast' },
    historyField: 'input',
    call: (id: string, name: string, args: string) => ({ type: 'function_call', call_id: id, name, arguments: args }),
  },
} as const;

function events(...list: readonly { type: string; [fact: string]: unknown }[]): Behavior {
  return streamsOnly(...list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
}

const names = ['chat', 'responses'] as const;

describe.each(names)('the caller’s tools, by %s', (api) => {
  const provider = apis[api];
  const start = (behavior: Behavior | readonly Behavior[], options: object = {}) =>
    startAgent(behavior, { api, ...options });
  const asked = (more: RunOptions = {}): RunOptions => ({
    messages: [question],
    callerTools: [forecast, bare],
    ...more,
  });

  test('are sent instead of those of the service, without a choice of ours', async () => {
    const agent = await start(provider.says('No.'), { maxSteps: 1 });
    expect(await agent.ask(asked({ tools: [ours] }))).toMatchObject({ content: 'No.', finishReason: 'stop' });
    const [sent] = await sentTo(agent.provider);
    expect(sent!.tools).toEqual(provider.tools);
    expect(sent).not.toHaveProperty('tool_choice');
  });

  test.each<[ToolChoice, unknown]>([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ name: 'forecast' }, provider.choice],
  ])('are chosen from as the caller says: %j', async (toolChoice, sent) => {
    const agent = await start(provider.says('No.'));
    await agent.ask(asked({ toolChoice }));
    expect((await sentTo(agent.provider))[0]!.tool_choice).toEqual(sent);
  });

  test('are called in one step: the calls are the result, with their arguments as the model wrote them', async () => {
    const agent = await start(
      provider.calls({ id: 'c1', name: 'forecast', args: '{"city": "Rome", }' }, { id: 'c2', name: 'now', args: '' }),
    );
    const seen = await agent.run(asked({ tools: [ours] }));
    expect(seen.map(({ type }) => type)).toEqual([
      ...['step-started', 'reasoning-delta', 'content-delta', 'completed'],
    ]);
    expect(seen.at(-1)).toMatchObject({
      result: {
        ...{ content: 'I look.', reasoning: 'Hm.', finishReason: 'tool_calls' },
        toolCalls: [
          { id: 'c1', name: 'forecast', arguments: '{"city": "Rome", }' },
          { id: 'c2', name: 'now', arguments: '{}' },
        ],
      },
    });
    expect(agent.provider.calls).toHaveLength(1);
  });

  test('are called with ids that are unique, even if the provider sends none', async () => {
    const call = { name: 'now', args: '{}' };
    const agent = await start(provider.calls(call, { ...call, id: 'same' }, { ...call, id: 'same' }, call));
    const { toolCalls = [] } = await agent.ask(asked());
    const ids = toolCalls.map(({ id }) => id);
    expect(ids).toContain('same');
    expect(ids).not.toContain('');
    expect(new Set(ids).size).toBe(4);
  });

  test('are answered by the caller, in the form of the API', async () => {
    const agent = await start(provider.says('Yes.'));
    const messages: Message[] = [
      question,
      {
        ...{ role: 'assistant', content: '' },
        toolCalls: [
          { id: 'c1', name: 'forecast', arguments: '{"city":"Rome"}' },
          { id: 'c2', name: 'now', arguments: '' },
        ],
      },
      { role: 'tool', toolCallId: 'c1', content: 'Rain.' },
      { role: 'tool', toolCallId: 'c2', content: '' },
    ];
    expect(await agent.ask(asked({ messages }))).toMatchObject({ content: 'Yes.', finishReason: 'stop' });
    const made = [provider.call('c1', 'forecast', '{"city":"Rome"}'), provider.call('c2', 'now', '{}')];
    const [sent] = await sentTo(agent.provider);
    expect(sent![provider.historyField]).toEqual(
      api === 'chat'
        ? [
            question,
            { role: 'assistant', content: null, tool_calls: made },
            { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
            { role: 'tool', tool_call_id: 'c2', content: '' },
          ]
        : [
            question,
            ...made,
            { type: 'function_call_output', call_id: 'c1', output: 'Rain.' },
            { type: 'function_call_output', call_id: 'c2', output: '' },
          ],
    );
  });

  test('in the history alone keep those of the service away, too', async () => {
    const agent = await start([provider.calls({ id: 'c9', name: 'ours', args: '{}' }), provider.says('Yes.')]);
    const messages: Message[] = [
      question,
      { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'c1', name: 'forecast', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c1', content: 'Rain.' },
    ];
    const seen = await agent.run({ messages, tools: [ours] });
    expect((await sentTo(agent.provider))[0]).not.toHaveProperty('tools');
    // A model that calls a tool all the same learns that there is no such tool, as always.
    expect(seen.find((event) => event.type === 'tool-finished')).toMatchObject({ ok: false });
    expect(seen.at(-1)).toMatchObject({ result: { content: 'Yes.', finishReason: 'stop' } });
  });

  test.each<[string, Message[]]>([
    ['an output without a call', [question, { role: 'tool', content: 'Rain.' }]],
    [
      'a call without an output',
      [{ role: 'assistant', content: '', toolCalls: [{ id: '', name: '', arguments: '{' }] }],
    ],
    ['calls of a user', [{ role: 'user', content: 'Hm', toolCalls: [{ id: 'a', name: 'b', arguments: 'c' }] }]],
    ['no calls', [question, { role: 'assistant', content: '', toolCalls: [] }]],
  ])('with an odd history reach the provider: %s', async (_what, messages) => {
    const agent = await start(provider.says('Yes.'));
    expect((await agent.ask(asked({ messages }))).content).toBe('Yes.');
  });

  test('are not called by an answer that was cut off', async () => {
    const { ask } = await start(provider.cut('forecast'));
    const result = await ask(asked());
    expect(result.finishReason).toBe('length');
    expect(result).not.toHaveProperty('toolCalls');
  });

  test.each([
    ['too many', Array.from({ length: 129 }, () => ({ name: 'now', args: '{}' }))],
    ['too long', [{ id: 'a', name: 'now', args: 'x'.repeat(2 ** 20 + 1) }]],
    ['without a name', [{ id: 'a', name: '', args: '{}' }]],
  ])('have limits: calls that are %s are a bad response', async (_what, list) => {
    const { ask } = await start(provider.calls(...list));
    await expect(ask(asked())).rejects.toMatchObject({ code: 'provider-bad-response' });
  });

  test('are never left out: a model that takes none refuses the call', async () => {
    const message = 'registry.ollama.ai/library/gemma does not support tools';
    const agent = await start(answers(400, { error: { message } }));
    const refusal = { code: 'parameter-not-supported', message: 'The model remote does not support tools.' };
    await expect(agent.ask(asked())).rejects.toMatchObject(refusal);
    expect(agent.provider.calls).toHaveLength(1);
  });

  test('are refused without a request once the model has rejected those of the service', async () => {
    const message = 'registry.ollama.ai/library/gemma does not support tools';
    const agent = await start([answers(400, { error: { message } }), provider.says('Hi.')]);
    const supported = async () => (await agent.recheck(), agent.models()[0]!.entry.supports);
    expect(await supported()).toEqual(['tools', 'json']);
    await agent.ask({ tools: [weather] });
    expect(await supported()).toEqual(['json']);
    await expect(agent.ask(asked())).rejects.toMatchObject({ code: 'parameter-not-supported' });
    expect(agent.provider.calls).toHaveLength(2);
  });

  test('are refused where the settings drop what the caller asks for', async () => {
    const without = await start(provider.says('Hi.'), { dropParams: ['tools', 'stop'] });
    expect(without.models()[0]!.entry.supports).toEqual([]);
    const { ask, provider: server } = await start(provider.says('Hi.'), { dropParams: ['tool_choice'] });
    await expect(ask(asked({ toolChoice: 'required' }))).rejects.toMatchObject({ code: 'parameter-not-supported' });
    await ask(asked({ toolChoice: 'auto' }));
    expect((await sentTo(server))[0]).not.toHaveProperty('tool_choice');
  });

  test('a choice does not bind the tools of the service', async () => {
    const { ask, provider: server } = await start(provider.says('Hi.'));
    await ask({ tools: [weather], toolChoice: 'required' });
    expect((await sentTo(server))[0]).not.toHaveProperty('tool_choice');
  });

  test('a failure after they have run is not retried otherwise than any other', async () => {
    const messages: Message[] = [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'now', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c1', content: 'Noon.' },
    ];
    const failed = await start(answers(500, 'no'));
    await expect(failed.ask(asked({ messages }))).rejects.toMatchObject({ code: 'provider-error' });
    expect(failed.provider.calls).toHaveLength(1);
    const busy = await start([answers(503, 'wait'), provider.says('Noon.')]);
    expect((await busy.ask(asked({ messages }))).content).toBe('Noon.');
    expect(busy.provider.calls).toHaveLength(2);
  });
});

test('calls without tools of the caller are those of the service, as always', async () => {
  const agent = await startAgent([calls({ name: 'weather', args: '{"city":"Rome"}' }), says('Sunny.')]);
  expect(await agent.ask({ tools: [weather], callerTools: [] })).toMatchObject({ finishReason: 'stop' });
  expect(await sentTo(agent.provider)).toMatchObject([{ tools: [{ function: { name: 'weather' } }] }, {}]);
});

test('listed models support tools and JSON, too', async () => {
  const list = answers(200, { data: [{ id: 'a' }] });
  const agent = await openWithDiscovery(list);
  await expect.poll(() => agent.models().map(({ entry }) => entry.supports)).toEqual([['tools', 'json']]);
});

describe('the fields of the caller', () => {
  const format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: parameters } };
  const sampling = { stop: ['END'], seed: 7, frequency_penalty: 1, presence_penalty: -1, logit_bias: { 5: 1 } };
  const mapped = { response_format: format, reasoning_effort: 'low', parallel_tool_calls: false };

  async function send(api: string, provider: Record<string, unknown>, more: RunOptions = {}) {
    const agent = await startAgent(apis[api as 'chat'].says('{}'), { api });
    await agent.ask({ provider, ...more });
    return (await sentTo(agent.provider))[0]!;
  }

  test('are sent as they are', async () => {
    const all = { ...sampling, ...mapped };
    expect(await send('chat', all, { callerTools: [bare] })).toMatchObject(all);
  });

  test.each(names)('of other names are not sent, nor null, nor what fits tools only, by %s', async (api) => {
    const others = {
      model: 'x',
      stream: false,
      messages: [],
      input: [],
      stream_options: {},
      tools: [1],
      n: 2,
      store: true,
    };
    const sent = await send(api, { ...others, stop: null, parallel_tool_calls: true, user: 'me' });
    expect(sent).toEqual(await send(api, {}));
  });

  test('are translated for responses', async () => {
    expect(await send('responses', mapped, { callerTools: [bare] })).toMatchObject({
      text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: parameters } },
      reasoning: { effort: 'low' },
      parallel_tool_calls: false,
    });
    for (const type of ['text', 'json_object']) {
      expect(await send('responses', { response_format: { type } })).toMatchObject({ text: { format: { type } } });
    }
  });

  test.each([...Object.entries(sampling), ['seed', 0]])(
    'are refused where responses has none: %s',
    async (name, value) => {
      const message = `The model remote does not support ${name}.`;
      await expect(send('responses', { [name]: value })).rejects.toMatchObject({
        code: 'parameter-not-supported',
        message,
      });
    },
  );

  test('that ask for nothing are not refused', async () => {
    const neutral = { frequency_penalty: 0, presence_penalty: 0, logit_bias: {}, stop: [] };
    expect(await send('responses', neutral)).toEqual(await send('responses', {}));
  });

  test.each(['json', { type: 'xml' }, { type: 'json_schema' }])(
    'are refused where they make no sense: %j',
    async (odd) => {
      const refusal = { code: 'parameter-not-supported' };
      await expect(send('responses', { response_format: odd })).rejects.toMatchObject(refusal);
    },
  );
});
