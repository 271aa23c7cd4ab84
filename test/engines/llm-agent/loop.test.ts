/** The agent loop: rounds, tools, requests to the provider and results. */
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../engines/contract/index.ts';
import { answers } from '../../support/provider.ts';
import {
  calls,
  chunk,
  framed,
  key,
  says,
  sentTo,
  startAgent,
  streamHead,
  streams,
  streamsOnly,
  tool,
  usageChunk,
  weather,
} from './support.ts';

const paris = { name: 'weather', args: '{"city":"Paris"}' };
const inEvents = <T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);

describe('a plain answer', () => {
  test('is returned as deltas and as a result', async () => {
    const { run } = await startAgent(
      streams(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Pa' }),
        chunk({ content: 'ris.' }),
        chunk({}, 'stop'),
        usageChunk(14, 3),
      ),
    );
    const usage = { promptTokens: 14, completionTokens: 3, totalTokens: 17, reasoningTokens: 0 };
    expect(await run()).toEqual([
      { type: 'step-started', step: 0 },
      { type: 'content-delta', step: 0, delta: 'Paris.' }, // what came together is passed on together
      { type: 'completed', result: { content: 'Paris.', finishReason: 'stop', reasoning: null, usage } },
    ]);
  });

  test('may be empty', async () => {
    const { ask } = await startAgent(streams(chunk({ content: null }), chunk({}, 'stop')));
    expect(await ask()).toEqual({ content: '', finishReason: 'stop', reasoning: null, usage: null });
  });

  test("is requested with the client's parameters, and nothing else", async () => {
    const { ask, provider } = await startAgent(says('Hi.'));
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
      { role: 'assistant', content: 'c' },
      { role: 'system', content: 'd' },
    ] as const;
    await ask({ messages });
    expect(await sentTo(provider)).toEqual([
      { model: 'remote', messages, stream: true, stream_options: { include_usage: true } },
    ]);
    const { path, headers } = provider.calls[0]!;
    expect({ path, authorization: headers.authorization, type: headers['content-type'] }).toEqual({
      path: '/v1/chat/completions',
      authorization: 'Bearer sk-very-secret-4711',
      type: 'application/json',
    });
  });

  test('accepts 0 and 1 as values', async () => {
    const { ask, provider } = await startAgent(says('Hi.'));
    await ask({ temperature: 0, topP: 1, maxTokens: 5 });
    expect(await sentTo(provider)).toMatchObject([{ temperature: 0, top_p: 1, max_tokens: 5 }]);
  });

  test('leaves its connection for reuse', async () => {
    // The end arrives with the rest of the stream; a late end is not waited for.
    const { ask, provider } = await startAgent(async ({ body, socket }) => {
      await body;
      const events = [chunk({ content: 'Hi.' }), chunk({}, 'stop'), '[DONE]'];
      const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
      socket.write(Buffer.concat([Buffer.from(streamHead), framed(text.join('')), Buffer.from('0\r\n\r\n')]));
    });
    for (let i = 0; i < 6; i += 1) await ask();
    // undici releases a connection one tick later, and may open another one meanwhile.
    expect(provider.connections).toBeLessThanOrEqual(2);
  });
});

describe('reasoning', () => {
  test.each(['reasoning_content', 'reasoning'])(
    'under %s is streamed, and sent back under the same name',
    async (name) => {
      const { run, provider } = await startAgent([
        streams(
          chunk({ [name]: 'Let me ' }),
          chunk({ [name]: 'look.' }),
          chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
          chunk({}, 'tool_calls'),
        ),
        streams(chunk({ [name]: 'Done.' }), chunk({ content: 'Sunny.' }), chunk({}, 'stop')),
      ]);
      const events = await run({ tools: [weather] });
      expect(inEvents(events, 'reasoning-delta').map(({ step, delta }) => [step, delta])).toEqual([
        [0, 'Let me look.'],
        [1, 'Done.'],
      ]);
      expect(inEvents(events, 'completed')[0]!.result).toMatchObject({
        content: 'Sunny.',
        reasoning: 'Let me look.\n\nDone.',
      });
      const [, second] = await sentTo(provider);
      const replayed = (second!.messages as object[])[1];
      expect(replayed).toMatchObject({ role: 'assistant', content: null, [name]: 'Let me look.' });
      expect(Object.keys(replayed!)).toHaveLength(4);
    },
  );

  test('under both names is streamed and returned once; details are sent back unchanged', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'x', index: 0 }];
    const { run, provider } = await startAgent([
      streams(
        chunk({ reasoning: 'Hm.', reasoning_content: 'Hm.', reasoning_details: details }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ),
      says('Sunny.'),
    ]);
    const events = await run({ tools: [weather] });
    expect(inEvents(events, 'reasoning-delta').map(({ delta }) => delta)).toEqual(['Hm.']);
    expect(inEvents(events, 'completed')[0]!.result.reasoning).toBe('Hm.');
    const [, second] = await sentTo(provider);
    expect((second!.messages as object[])[1]).toMatchObject({
      reasoning: 'Hm.',
      reasoning_content: 'Hm.',
      reasoning_details: details,
    });
  });

  test('under a name and in parts of the content is what came first, in the stream as in the result', async () => {
    const thinking = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }];
    const { run } = await startAgent(
      streams(
        chunk({ content: thinking('Hm.') }),
        chunk({ reasoning: 'Well.', content: thinking(' Yes.') }),
        chunk({ content: 'Sunny.' }),
        chunk({}, 'stop'),
      ),
    );
    const events = await run({});
    expect(
      inEvents(events, 'reasoning-delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('Hm. Yes.');
    expect(inEvents(events, 'completed')[0]!.result.reasoning).toBe('Hm. Yes.');
  });

  test('details that are streamed in pieces are sent back as whole blocks (OpenRouter)', async () => {
    const text = { type: 'reasoning.text', format: 'anthropic-claude-v1' };
    const encrypted = { type: 'reasoning.encrypted', index: 2 };
    const pieces = [
      { ...text, index: 0, text: 'Let me', signature: null },
      { ...text, index: 0, text: ' look.' },
      { ...text, index: 0, signature: 'one', format: null },
      { ...text, index: 1, text: 'There.', signature: 'two' },
      { ...encrypted, id: 'a', data: 'AAAA' },
      { ...encrypted, id: 'b', data: 'BBBB' },
      { type: 'reasoning.summary', summary: 'It ' },
      { type: 'reasoning.summary', summary: 'looked.' },
    ];
    const { ask, provider } = await startAgent([
      streams(
        ...pieces.map((piece) => chunk({ reasoning_details: [piece] })),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ),
      says('Sunny.'),
    ]);
    await ask({ tools: [weather] });
    const [, second] = await sentTo(provider);
    expect((second!.messages as { reasoning_details: object[] }[])[1]!.reasoning_details).toEqual([
      { ...text, index: 0, text: 'Let me look.', signature: 'one' },
      { ...text, index: 1, text: 'There.', signature: 'two' },
      ...pieces.slice(4), // without an index nothing says what belongs together
    ]);
  });

  test.each([
    [
      'Groq',
      "for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]",
    ],
    ['Cerebras', "messages.1.assistant.reasoning: property 'messages.1.assistant.reasoning' is unsupported"],
  ])('is not sent back to a model that rejects it (%s)', async (_who, message) => {
    const thinks = streams(
      chunk({ reasoning: 'Hm.' }),
      chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
    );
    const refuses = answers(400, { error: { message, type: 'invalid_request_error' } });
    const { ask, provider } = await startAgent([thinks, refuses, says('Sunny.'), thinks, says('Sunny.')]);
    expect(await ask({ tools: [weather] })).toMatchObject({ content: 'Sunny.', reasoning: 'Hm.' });
    expect(await ask({ tools: [weather] })).toMatchObject({ content: 'Sunny.', reasoning: 'Hm.' });
    const sent = (await sentTo(provider)).map((body) => JSON.stringify(body.messages));
    expect(sent.map((messages) => messages.includes('Hm.'))).toEqual([false, true, false, false, false]);
    expect(sent[2]).toContain('c1');
  });

  test('is sent back to a model that requires it', async () => {
    const message = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    const { ask, provider } = await startAgent([
      streams(
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ),
      answers(400, { error: { message } }),
    ]);
    await expect(ask({ tools: [weather] })).rejects.toMatchObject({ code: 'provider-rejected-request' });
    expect(provider.calls).toHaveLength(2);
  });

  test.each([
    [true, '<think>\nHm.\n</think>\n\nLet me look.'],
    [false, 'Let me look.'],
  ])('in the content is apart in the result; with replayReasoning: %s, %j is sent back', async (replay, sent) => {
    const { run, provider } = await startAgent(
      [
        streams(
          ...['<thi', 'nk>\nHm.\n</th', 'ink>\n\nLet me look.'].map((content) => chunk({ content })),
          chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
          chunk({}, 'tool_calls'),
        ),
        says('<think>So.</think>Sunny.'),
      ],
      { replayReasoning: replay },
    );
    const events = await run({ tools: [weather] });
    const texts = events.flatMap((event) => ('delta' in event ? [[event.type, event.step, event.delta]] : []));
    const joined = (type: string) => texts.flatMap(([kind, , delta]) => (kind === type ? [delta] : [])).join('|');
    expect(joined('reasoning-delta')).toBe('Hm.|So.');
    expect(joined('content-delta')).toBe('Let me look.|Sunny.');
    expect(events.at(-1)).toMatchObject({ result: { content: 'Sunny.', reasoning: 'Hm.\n\nSo.' } });
    const { messages } = (await sentTo(provider))[1] as { messages: { content: string }[] };
    expect(messages[1]!.content).toBe(sent);
  });

  test('is not sent back with replayReasoning: false', async () => {
    const { ask, provider } = await startAgent(
      [
        streams(
          chunk({ reasoning: 'Hm.' }),
          chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
          chunk({}, 'tool_calls'),
        ),
        says('Sunny.'),
      ],
      { replayReasoning: false },
    );
    await ask({ tools: [weather] });
    expect(JSON.stringify(await sentTo(provider))).not.toContain('Hm.');
  });
});

describe('a tool', () => {
  test('is called, and the model reads its output', async () => {
    const { run, provider } = await startAgent([
      streams(
        chunk({ content: 'I look.' }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{"city":"Paris"}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(10, 5, { reasoning_tokens: 2 }),
      ),
      streams(chunk({ content: 'Sunny.' }), chunk({}, 'stop'), usageChunk(20, 7)),
    ]);
    const events = await run({ tools: [weather], maxTokens: 9, temperature: 0.5 });
    expect(events).toEqual([
      { type: 'step-started', step: 0 },
      { type: 'content-delta', step: 0, delta: 'I look.' },
      { type: 'tool-started', step: 0, call: 0, name: 'weather', arguments: { city: 'Paris' } },
      {
        ...{ type: 'tool-finished', step: 0, call: 0, name: 'weather', ok: true, output: 'Sunny in Paris.' },
        durationMs: expect.any(Number) as number,
      },
      { type: 'step-started', step: 1 },
      { type: 'content-delta', step: 1, delta: 'Sunny.' },
      {
        type: 'completed',
        result: {
          ...{ content: 'Sunny.', finishReason: 'stop', reasoning: null },
          usage: { promptTokens: 30, completionTokens: 12, totalTokens: 42, reasoningTokens: 2 },
        },
      },
    ]);
    const [first, second] = await sentTo(provider);
    const { name, description, parameters } = weather;
    expect(first).toMatchObject({
      tools: [{ type: 'function', function: { name, description, parameters } }],
      max_tokens: 9,
    });
    expect(first).not.toHaveProperty('tool_choice');
    expect(second).toEqual({
      ...first,
      messages: [
        { role: 'user', content: 'What is the capital of France?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Sunny in Paris.' },
      ],
    });
  });

  test('is called if there are calls, whatever the finish reason', async () => {
    const stop = streams(
      chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }),
      chunk({}, 'stop'),
    );
    const { ask } = await startAgent([stop, says('Sunny.')]);
    expect(await ask({ tools: [weather] })).toMatchObject({ content: 'Sunny.', finishReason: 'stop' });
  });

  test('is not called without calls, whatever the finish reason', async () => {
    const { ask } = await startAgent(streams(chunk({ content: 'Hi.' }), chunk({}, 'tool_calls')));
    expect(await ask({ tools: [weather] })).toMatchObject({ content: 'Hi.', finishReason: 'stop' });
  });

  test.each(['length', 'content_filter'])('is not called in a round that ends with %s', async (finish) => {
    const { run, provider } = await startAgent(
      streams(
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{"ci' } }] }),
        chunk({}, finish),
      ),
    );
    const events = await run({ tools: [weather] });
    expect(events.map(({ type }) => type)).toEqual(['step-started', 'completed']);
    expect(events.at(-1)).toMatchObject({ result: { content: '', finishReason: finish } });
    expect(provider.calls).toHaveLength(1);
  });

  test('may report progress until it ends', async () => {
    let late = () => {};
    const slow = tool('slow', (_args, { emit }) => {
      late = () => emit({ type: 'progress', progress: 3 });
      emit({ type: 'progress', progress: 1, total: 2, message: 'half' });
      emit({ type: 'audio', clip: { id: 'x', mediaType: 'audio/mpeg' } });
      return 'ok';
    });
    const { run } = await startAgent([
      calls({ name: 'slow', args: '{}' }),
      (call) => {
        late();
        return says('Done.')(call);
      },
    ]);
    const events = await run({ tools: [slow] });
    expect(inEvents(events, 'tool-event').map(({ event }) => event)).toEqual([
      { type: 'progress', progress: 1, total: 2, message: 'half' },
      { type: 'audio', clip: { id: 'x', mediaType: 'audio/mpeg' } },
    ]);
  });

  test('drops progress events under backpressure', async () => {
    const chatty = tool('chatty', (_args, { emit }) => {
      for (let i = 0; i < 10_000; i += 1) emit({ type: 'progress', progress: i });
      emit({ type: 'audio', clip: { id: 'x', mediaType: 'audio/mpeg' } });
      return 'ok';
    });
    const { run } = await startAgent([calls({ name: 'chatty', args: '{}' }), says('Done.')]);
    const told = inEvents(await run({ tools: [chatty] }), 'tool-event');
    expect(told.length).toBeLessThan(300);
    expect(told.at(-1)?.event.type).toBe('audio');
  });
});

describe('an error with a tool is sent back to the model', () => {
  const broken = tool('broken', () => {
    throw new Error('the tool is broken');
  });
  const mistakes = [
    {
      name: 'a tool that throws',
      call: { name: 'broken', args: '{"a":1}' },
      args: { a: 1 },
      says: /the tool is broken/,
    },
    {
      name: 'an unknown tool',
      call: { name: 'nosuch', args: '{}' },
      args: {},
      says: /Unknown tool "nosuch"; available tools: broken/,
    },
    { name: 'bad JSON', call: { name: 'broken', args: '{"a":' }, args: {}, says: /not a JSON object/ },
    { name: 'an array as arguments', call: { name: 'broken', args: '[1,2]' }, args: {}, says: /not a JSON object/ },
  ];

  test.each(mistakes)('$name', async ({ call, args, says: error }) => {
    const { run, provider } = await startAgent([calls(call), says('I see.')]);
    const events = await run({ tools: [broken] });
    expect(inEvents(events, 'tool-started')).toMatchObject([{ name: call.name, arguments: args }]);
    expect(inEvents(events, 'tool-finished')).toMatchObject([
      { ok: false, error: expect.stringMatching(error) as string },
    ]);
    expect(events.at(-1)).toMatchObject({ result: { content: 'I see.', finishReason: 'stop' } });
    const [, second] = await sentTo(provider);
    const [, said, read] = second!.messages as { tool_calls: { function: { arguments: string } }[]; content: string }[];
    expect(read!.content).toMatch(error);
    // Some providers reject a history with invalid JSON.
    expect(JSON.parse(said!.tool_calls[0]!.function.arguments)).toEqual(args);
  });
});

describe('parallel calls', () => {
  test('run concurrently; outputs are sent in the order of the model', async () => {
    const second = Promise.withResolvers<unknown>();
    const tools = [
      tool('first', async () => {
        await second.promise;
        return 'one';
      }),
      tool('second', () => {
        second.resolve(undefined);
        return 'two';
      }),
    ];
    const { run, provider } = await startAgent([
      calls({ id: 'a', name: 'first', args: '{}' }, { id: 'b', name: 'second', args: '{}' }),
      says('Done.'),
    ]);
    const events = await run({ tools });
    expect(inEvents(events, 'tool-started').map(({ call }) => call)).toEqual([0, 1]);
    expect(inEvents(events, 'tool-finished').map(({ call, output }) => [call, output])).toEqual([
      [1, 'two'],
      [0, 'one'],
    ]);
    const [, request] = await sentTo(provider);
    expect((request!.messages as object[]).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
    ]);
  });
});

describe('the last round', () => {
  test('may not call tools, and ends with length if it does', async () => {
    const { run, provider } = await startAgent([calls(paris), calls(paris), calls(paris)], { maxSteps: 2 });
    const events = await run({ tools: [weather] });
    expect(inEvents(events, 'tool-started')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ result: { content: '', finishReason: 'length' } });
    const [first, last, ...none] = await sentTo(provider);
    expect(first).not.toHaveProperty('tool_choice');
    expect(last).toMatchObject({ tool_choice: 'none', tools: first!.tools });
    expect(none).toEqual([]);
  });

  test('is the eighth', async () => {
    const { ask, provider } = await startAgent(calls(paris));
    expect((await ask({ tools: [weather] })).finishReason).toBe('length');
    expect(provider.calls).toHaveLength(8);
  });

  test('keeps its finish reason if it calls no tools', async () => {
    const { ask } = await startAgent([calls(paris), says('Sunny.')], { maxSteps: 2 });
    expect(await ask({ tools: [weather] })).toMatchObject({ content: 'Sunny.', finishReason: 'stop' });
  });
});

describe('the finish reason', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'stop'],
    ['function_call', 'stop'],
    ['eos', 'stop'],
    ['model_length', 'length'],
  ])('%s is %s', async (given, expected) => {
    const { ask } = await startAgent(streams(chunk({ content: 'Hi.' }), chunk({}, given)));
    expect(await ask()).toMatchObject({ content: 'Hi.', finishReason: expected });
  });

  test.each(['end_turn', 'toString', '__proto__', 'x'.repeat(10_000)])(
    '%s, which no table has, is stop, with one warning for the model',
    async (given) => {
      const { ask, log } = await startAgent(streams(chunk({ content: 'Hi.' }), chunk({}, given)));
      expect(await ask()).toMatchObject({ content: 'Hi.', finishReason: 'stop' });
      expect(await ask()).toMatchObject({ content: 'Hi.', finishReason: 'stop' });
      expect(log.filter(({ level }) => level === 'warn')).toEqual([
        {
          level: 'warn',
          facts: { model: 'remote', reason: given.slice(0, 100), takenAs: 'stop' },
          message: 'the provider sent an unknown finish reason',
        },
      ]);
    },
  );

  test('is logged once per model if it is unknown, without the key', async () => {
    const { ask, log } = await startAgent(streams(chunk({ content: 'Hi.' }), chunk({}, `because of ${key}`)), {
      models: ['one', 'two'],
    });
    for (const model of ['one', 'two', 'one']) await ask({ model });
    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ facts }) => facts)).toMatchObject([{ model: 'one' }, { model: 'two' }]);
    expect(JSON.stringify(warnings)).not.toContain(key);
  });

  test('runs complete tool calls even if it is unknown', async () => {
    const call = { index: 0, id: 'c1', function: { name: 'weather', arguments: '{"city":"Paris"}' } };
    const { run } = await startAgent([streams(chunk({ tool_calls: [call] }), chunk({}, 'tool_use')), says('Sunny.')]);
    const events = await run({ tools: [weather] });
    expect(inEvents(events, 'tool-finished')).toMatchObject([{ ok: true, output: 'Sunny in Paris.' }]);
    expect(events.at(-1)).toMatchObject({ result: { content: 'Sunny.', finishReason: 'stop' } });
  });

  test('is enough without [DONE]', async () => {
    const { ask } = await startAgent(streamsOnly(chunk({ content: 'Hi.' }), chunk({}, 'stop')));
    expect(await ask()).toMatchObject({ content: 'Hi.', finishReason: 'stop' });
  });
});

describe('usage', () => {
  test('is the latest of each round, summed over the rounds that report it', async () => {
    const { ask } = await startAgent([
      streams(
        chunk({ content: 'a' }, null, { usage: usageChunk(3, 1).usage }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{}' } }] }, null, {
          usage: usageChunk(3, 4).usage,
        }),
        chunk({}, 'tool_calls'),
      ),
      says('Sunny.'),
    ]);
    expect((await ask({ tools: [weather] })).usage).toEqual({
      ...{ promptTokens: 3, completionTokens: 4, totalTokens: 7, reasoningTokens: 0 },
    });
  });

  test('is null if it is invalid', async () => {
    const { ask } = await startAgent(streams(chunk({ content: 'Hi.' }, 'stop', { usage: null })));
    expect((await ask()).usage).toBeNull();
  });
});
