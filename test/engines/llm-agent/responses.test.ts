/** The Responses API: `api: responses`. */
import { describe, expect, test } from 'vitest';
import { answers } from '../../support/provider.ts';
import { openAgent, secret, sends, sentTo, startAgent, streamsOnly, tool, weather } from './support.ts';

const api = { api: 'responses' };

const named = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
interface Event {
  readonly type: string;
  readonly item?: object;
  readonly [fact: string]: unknown;
}

const streams = (...events: readonly Event[]) => streamsOnly(...events.map(named));
const text = (delta: string) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta });
const itemDone = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
const message = (content: string) => ({
  ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', phase: 'final' },
  content: [{ type: 'output_text', text: content, annotations: [] }],
});
const call = (name: string, args: string, id = 'call_1') => ({
  ...{ type: 'function_call', id: `fc_${id}`, status: 'completed', call_id: id, name, arguments: args },
});
const ended = (response: object = {}, type = 'response.completed') => ({
  type,
  response: {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    output: [],
    usage: null,
    ...response,
  },
});
const usage = (input: number, output: number, reasoning = 0) => ({
  ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
  output_tokens_details: { reasoning_tokens: reasoning },
});
const fine = streams(
  { type: 'response.created' },
  text('Pa'),
  text('ris.'),
  itemDone(message('Paris.')),
  ended({ usage: usage(9, 2) }),
);

describe('a plain answer', () => {
  test('is returned as deltas and as a result', async () => {
    const { run, provider } = await startAgent(fine, api);
    expect(await run({ temperature: 0, topP: 1, maxTokens: 5 })).toEqual([
      { type: 'step-started', step: 0 },
      { type: 'content-delta', step: 0, delta: 'Paris.' },
      {
        type: 'completed',
        result: {
          ...{ content: 'Paris.', finishReason: 'stop', reasoning: null },
          usage: { promptTokens: 9, completionTokens: 2, totalTokens: 11, reasoningTokens: 0 },
        },
      },
    ]);
    expect(provider.calls[0]!.path).toBe('/v1/responses');
    expect(await sentTo(provider)).toEqual([
      {
        ...{ model: 'remote', stream: true, store: false, include: ['reasoning.encrypted_content'] },
        ...{ temperature: 0, top_p: 1, max_output_tokens: 5 },
        input: [{ role: 'user', content: 'What is the capital of France?' }],
      },
    ]);
  });

  test.each([
    ['no blank line at its end', (sent: string) => sent.trimEnd()],
    ['one line end between events', (sent: string) => sent.replaceAll('\n\n', '\n')],
  ])('may come with %s', async (_what, change) => {
    const sent = [text('Pa'), text('ris.'), ended({ output: [message('Paris.')] })].map(named).join('');
    const { ask } = await startAgent(sends(change(sent)), api);
    expect(await ask()).toMatchObject({ content: 'Paris.', finishReason: 'stop' });
  });

  test('may come without streaming', async () => {
    const { ask } = await startAgent(
      answers(200, ended({ output: [message('Paris.')], usage: usage(9, 2) }).response),
      api,
    );
    expect(await ask()).toMatchObject({ content: 'Paris.', finishReason: 'stop', usage: { totalTokens: 11 } });
  });

  test('may come without streaming, with its reasoning', async () => {
    const thoughts = { type: 'reasoning', id: 'rs_1', summary: ['Which?', 'France.'].map((part) => ({ text: part })) };
    const { run } = await startAgent(answers(200, ended({ output: [thoughts, message('Paris.')] }).response), api);
    expect((await run()).slice(1)).toMatchObject([
      { type: 'reasoning-delta', delta: 'Which?\n\nFrance.' },
      { type: 'content-delta', delta: 'Paris.' },
      { result: { content: 'Paris.', reasoning: 'Which?\n\nFrance.' } },
    ]);
  });

  test.each([
    ['in a stream', streams(text('<think>Hm.</th'), text('ink>\n\nParis.'), ended())],
    ['in one piece', answers(200, ended({ output: [message('<think>Hm.</think>\n\nParis.')] }).response)],
  ])('may have reasoning in its content, %s', async (_how, behavior) => {
    const { ask } = await startAgent(behavior, api);
    expect(await ask()).toMatchObject({ content: 'Paris.', reasoning: 'Hm.' });
  });

  test('may be a refusal of the model', async () => {
    const { ask } = await startAgent(streams({ type: 'response.refusal.delta', delta: 'No.' }, ended()), api);
    expect((await ask()).content).toBe('No.');
  });
});

test('tools are called, and the model reads their outputs; reasoning is sent back unchanged', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
  const open = { type: 'reasoning', id: 'rs_2', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
  const summary = (part: number, delta: string) => ({
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: part,
    delta,
  });
  const { run, provider } = await startAgent(
    [
      streams(
        summary(0, 'First'),
        summary(0, ' this.'),
        summary(1, 'Then that.'),
        { type: 'response.reasoning_text.delta', item_id: 'rs_1', content_index: 0, delta: 'the same again' },
        itemDone(reasoning),
        itemDone(open),
        itemDone({ type: 'reasoning', id: 'rs_3', summary: [{ type: 'summary_text', text: 'First this.' }] }),
        itemDone(message('I look.')),
        itemDone(call('weather', '{"city":"Paris"}')),
        itemDone(call('weather', '{"city":', 'call_2')),
        ended({ usage: usage(10, 5, 3) }),
      ),
      streams(text('Sunny.'), ended({ usage: usage(20, 7, 1) })),
    ],
    api,
  );
  const events = await run({ tools: [weather] });
  expect(events.filter(({ type }) => type === 'reasoning-delta')).toMatchObject([
    { delta: 'First this.\n\nThen that.' },
  ]);
  expect(events.filter((event) => event.type === 'tool-finished')).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ call: 0, ok: true, output: 'Sunny in Paris.' }),
      expect.objectContaining({ call: 1, ok: false }),
    ]) as object[],
  );
  expect(events.at(-1)).toMatchObject({
    result: {
      ...{ content: 'Sunny.', finishReason: 'stop', reasoning: 'First this.\n\nThen that.' },
      usage: { promptTokens: 30, completionTokens: 12, totalTokens: 42, reasoningTokens: 4 },
    },
  });
  const [first, second] = await sentTo(provider);
  const { name, description, parameters } = weather;
  expect(first).toMatchObject({ tools: [{ type: 'function', name, description, parameters, strict: false }] });
  const [, ...said] = second!.input as object[];
  expect(said).toEqual([
    reasoning,
    open, // not the third one: its summary alone means nothing
    { type: 'message', role: 'assistant', phase: 'final', content: message('I look.').content },
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
    { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'Sunny in Paris.' },
    { type: 'function_call_output', call_id: 'call_2', output: expect.stringMatching(/^Error: .*JSON/) as string },
  ]);
});

test('each call is matched with its output, whatever its id and arguments', async () => {
  const call = (id: string | undefined, args: unknown) => ({
    ...{ type: 'function_call', id: 'fc_1', name: 'echo', call_id: id, arguments: args },
  });
  const made = [call('a', '{"n":1}'), call('a', '{"n":2}'), call(undefined, { n: 3 }), call('b', '')];
  const done = made.map((item, at) => ({ ...itemDone(item), output_index: at }));
  const { ask, provider } = await startAgent([streams(...done, ended()), fine], api);
  await ask({ tools: [tool('echo', (args) => JSON.stringify(args))] });
  const { input } = (await sentTo(provider))[1] as { input: Record<string, unknown>[] };
  expect(input.slice(1, 5).map(({ call_id, arguments: args }) => [call_id, args])).toEqual([
    ['a', '{"n":1}'],
    ['call00001', '{"n":2}'],
    ['call00002', '{"n":3}'],
    ['b', '{}'],
  ]);
  expect(input.slice(5).map(({ call_id, output }) => [call_id, output])).toEqual([
    ['a', '{"n":1}'],
    ['call00001', '{"n":2}'],
    ['call00002', '{"n":3}'],
    ['b', '{}'],
  ]);
});

describe('a call of a provider that leaves out events', () => {
  const place = { output_index: 0, item_id: 'fc_call_1' };
  const json = '{"city":"Paris"}';
  const whole = call('weather', json);
  const streamed: readonly Event[] = [
    { type: 'response.output_item.added', output_index: 0, item: { ...whole, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', ...place, delta: json.slice(0, 5) },
    { type: 'response.function_call_arguments.delta', ...place, delta: json.slice(5) },
    { type: 'response.function_call_arguments.done', ...place, name: 'weather', arguments: json },
    itemDone(whole),
  ];
  const namesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type.slice('response.'.length));
  const subsets = Array.from({ length: 2 ** streamed.length }, (_, bits) =>
    streamed.filter((_, at) => bits & (2 ** at)),
  );

  test.each(subsets.map((events) => [namesOf(events).join(', '), events] as const))(
    'is made or fails, and is never an empty answer: %s',
    async (_names, events) => {
      const ends = [ended(), ended({ output: [whole] })];
      for (const end of ends) {
        const { ask } = await startAgent(streams(...events, end), api);
        const answer: unknown = await ask({ callerTools: [{ name: 'weather' }] }).catch((error: unknown) => error);
        const id = expect.stringMatching(/^call(_1|00001)$/) as string;
        const called = { finishReason: 'tool_calls', toolCalls: [{ id, name: 'weather', arguments: json }] };
        const isTold = end === ends[1] || namesOf(events).some((name) => name.endsWith('.done'));
        const hasAll = ['added', 'delta', 'delta'].every((name, at) => namesOf(events)[at]?.endsWith(name));
        expect(answer).toMatchObject(isTold || hasAll ? called : { code: 'provider-bad-response' });
      }
    },
  );

  test.each([
    ['all events are repeated', [...streamed, ...streamed]],
    ['all events but its end are repeated', [...streamed.slice(0, 4), ...streamed.slice(0, 4)]],
    ['ids change from event to event', streamed.map((event, at) => withIds(event, `fc_${at}`))],
    ['its end lacks the index', [...streamed.slice(0, 4), { ...itemDone(whole), output_index: undefined }]],
    ['a message follows', [...streamed.slice(0, 4), { ...itemDone(message('I look.')), output_index: 1 }]],
  ])('is made once when %s', async (_what, events) => {
    const { ask } = await startAgent(streams(...events, ended()), api);
    const { toolCalls } = await ask({ callerTools: [{ name: 'weather' }] });
    expect(toolCalls).toEqual([{ id: 'call_1', name: 'weather', arguments: json }]);
  });

  test('is not taken for another that is written at the same time, even without an index', async () => {
    const others = ['a', 'b'].map((id) => call('weather', '', id));
    const events = [
      ...others.map((item) => ({ type: 'response.output_item.added', item })),
      ...others.map(({ id }) => ({
        ...{ type: 'response.function_call_arguments.delta', item_id: id },
        delta: JSON.stringify({ city: id }),
      })),
    ];
    const { ask } = await startAgent(streams(...events, ended()), api);
    const { toolCalls } = await ask({ callerTools: [{ name: 'weather' }] });
    expect(toolCalls).toEqual(['a', 'b'].map((id) => ({ id, name: 'weather', arguments: `{"city":"fc_${id}"}` })));
  });

  test('runs a tool of the service, and is sent back', async () => {
    const { run, provider } = await startAgent([streams(...streamed.slice(0, 4), ended()), fine], api);
    const events = await run({ tools: [weather] });
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-finished', output: 'Sunny in Paris.' }));
    expect((await sentTo(provider))[1]!.input).toContainEqual({
      ...{ type: 'function_call', call_id: 'call_1', name: 'weather', arguments: json },
    });
  });
});

function withIds(event: Event, id: string): Event {
  const { item } = event;
  return { ...event, ...('item_id' in event && { item_id: id }), ...(item !== undefined && { item: { ...item, id } }) };
}

test.each([
  ['its deltas', streams({ type: 'response.output_text.done', item_id: 'msg_1', text: 'Paris.' }, ended())],
  ['its deltas and texts', streams(itemDone(message('Paris.')), ended())],
  ['all but the end', streams(ended({ output: [message('Paris.')] }))],
])('a text of a provider that leaves out %s is the answer', async (_what, behavior) => {
  const { ask } = await startAgent(behavior, api);
  expect((await ask()).content).toBe('Paris.');
});

test('reasoning is not sent back with replayReasoning: false', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
  const { ask, provider } = await startAgent(
    [streams(itemDone(reasoning), itemDone(call('weather', '{}')), ended()), fine],
    { ...api, replayReasoning: false },
  );
  await ask({ tools: [weather] });
  const [first, second] = await sentTo(provider);
  expect(first).not.toHaveProperty('include');
  expect(JSON.stringify(second)).not.toContain('gAAA');
});

test('the last round may not call tools', async () => {
  const { ask, provider } = await startAgent(streams(itemDone(call('weather', '{}')), ended()), {
    ...api,
    maxSteps: 2,
  });
  expect((await ask({ tools: [weather] })).finishReason).toBe('length');
  expect((await sentTo(provider)).map(({ tool_choice }) => tool_choice)).toEqual([undefined, 'none']);
});

test('encrypted reasoning is no longer requested from a model that does not support it', async () => {
  const refusal = {
    error: { message: 'Encrypted content is not supported with this model.', param: 'include', code: null },
  };
  const { ask, provider } = await startAgent([answers(400, refusal), fine], api);
  await ask();
  await ask();
  expect((await sentTo(provider)).map((sent) => 'include' in sent)).toEqual([true, false, false]);
});

test('both APIs may be used side by side', async () => {
  const models = ['plain', { id: 'new', api: 'responses' }];
  const { ask, provider } = await startAgent(fine, { models });
  await ask({ model: 'new' });
  await ask({ model: 'plain' }).catch(() => undefined);
  expect(provider.calls.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions']);
});

describe('the finish reason', () => {
  const incomplete = (reason: string) =>
    ended({ status: 'incomplete', incomplete_details: { reason } }, 'response.incomplete');

  test('is stop for an unknown status, with one warning per model', async () => {
    const { ask, log } = await startAgent(streams(text('Pa'), ended({ status: 'done' })), api);
    expect(await ask()).toMatchObject({ content: 'Pa', finishReason: 'stop' });
    expect(await ask()).toMatchObject({ content: 'Pa', finishReason: 'stop' });
    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ facts: { model: 'remote', reason: 'done', takenAs: 'stop' } }]);
  });

  test('is length for an incomplete response with an unknown reason, with a warning', async () => {
    const never = tool('never', () => {
      throw new Error('it ran');
    });
    const behavior = streams(text('Pa'), itemDone(call('never', '{}')), incomplete('bored'));
    const { run, log } = await startAgent(behavior, api);
    const events = await run({ tools: [never] });
    expect(events.at(-1)).toMatchObject({ type: 'completed', result: { content: 'Pa', finishReason: 'length' } });
    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ facts: { reason: 'incomplete: bored', takenAs: 'length' } }]);
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('%s is %s, and runs no tool', async (reason, finishReason) => {
    const never = tool('never', () => {
      throw new Error('it ran');
    });
    const { run } = await startAgent(streams(text('Pa'), itemDone(call('never', '{"a')), incomplete(reason)), api);
    const events = await run({ tools: [never] });
    expect(events.map(({ type }) => type)).toEqual(['step-started', 'content-delta', 'completed']);
    expect(events.at(-1)).toMatchObject({ result: { content: 'Pa', finishReason } });
  });

  test.each([
    ['a missing final event', streams(text('Pa'), itemDone(message('Pa'))), 'provider-bad-response'],
    ['status queued', streams(text('Pa'), ended({ status: 'queued' })), 'provider-bad-response'],
    ['a missing status', streams(text('Pa'), ended({ status: undefined })), 'provider-bad-response'],
    ['status cancelled', streams(text('Pa'), ended({ status: 'cancelled' })), 'provider-bad-response'],
    [
      'failed',
      streams(text('Pa'), ended({ status: 'failed', error: { message: secret } }, 'response.failed')),
      'provider-error',
    ],
    ['an error', streams(text('Pa'), { type: 'error', code: 'x', message: secret, param: null }), 'provider-error'],
    [
      'an error without streaming',
      answers(200, ended({ status: 'failed', error: { message: secret } }).response),
      'provider-error',
    ],
    ['no item and no text', streams({ type: 'response.created' }, ended()), 'provider-bad-response'],
    [
      'a message that begins and has no text',
      streams({ type: 'response.output_item.added', item: message('') }, ended()),
      'provider-bad-response',
    ],
    ['an empty body', answers(200, ''), 'provider-bad-response'],
  ])('%s is a failure', async (_name, behavior, code) => {
    const { ask } = await startAgent(behavior, api);
    const error: unknown = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).not.toContain(secret);
  });

  test.each([
    [429, { code: 'insufficient_quota' }, 'provider-quota-exhausted'],
    [400, { code: 'context_length_exceeded' }, 'context-length-exceeded'],
    [401, {}, 'provider-auth-failed'],
  ])('%d %j is mapped by the same table', async (status, error, code) => {
    const { ask } = await startAgent(answers(status, { error: { message: secret, ...error } }), api);
    await expect(ask()).rejects.toMatchObject({ code });
  });
});

test('the path is appended to the base URL', async () => {
  const { provider } = await startAgent(fine, api);
  const { ask } = await openAgent({ baseUrl: `${provider.baseUrl}/deep/`, models: ['m'], ...api });
  await ask();
  expect(provider.calls[0]!.path).toBe('/v1/deep/responses');
});
