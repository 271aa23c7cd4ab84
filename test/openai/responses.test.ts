/** Responses through the OpenAI-compatible API, as the SDK sends and reads them. */
import OpenAI, { BadRequestError, type APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { EngineErrorCode } from '../../engines/contract/index.ts';
import {
  completed,
  content,
  reasoning,
  stepStarted,
  toolFinished,
  toolStarted,
  type Script,
} from '../chat/support/script.ts';
import { calls, chunk, says, sentTo, stallsAfter, streams, usageChunk } from '../engines/llm-agent/support.ts';
import { startChatService, startMcp } from './support/chat.ts';
import { ask, listed, postResponse, readEvents, type Event } from './support/responses.ts';

const paris = streams(
  chunk({ reasoning: 'Hm.' }),
  ...[chunk({ content: 'Paris.' }), chunk({}, 'stop')],
  usageChunk(14, 3, { reasoning_tokens: 1 }),
);

const usage = {
  ...{ input_tokens: 14, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 3, output_tokens_details: { reasoning_tokens: 1 }, total_tokens: 17 },
};
const zeros = {
  ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
};

const ofScript = (script: Script) => ({ model: 'scripted', input: JSON.stringify(script) });
const idOf = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{32}$`)) as string;
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const messageItem = (text: string, status = 'completed') => ({
  ...{ id: idOf('msg'), type: 'message', status, role: 'assistant' },
  content: [outputText(text)],
});
const reasoningItem = (text: string) => ({
  ...{ id: idOf('rs'), type: 'reasoning', status: 'completed' },
  ...{ summary: [{ type: 'summary_text', text }], encrypted_content: null },
});
const now = () => expect.closeTo(Date.now() / 1000, -2) as number;

describe('a response', () => {
  it('has its request, the output and the usage; the headers name the request and the model', async () => {
    const { openai } = await startChatService(paris);
    const { data, response, request_id } = await openai.responses.create(ask).withResponse();
    const { output_text: text, ...body } = data;
    expect(text).toBe('Paris.'); // made by the SDK
    expect(body).toMatchObject({
      id: `resp_${String(request_id).replaceAll('-', '')}`,
      ...{ object: 'response', created_at: now(), completed_at: now(), status: 'completed', background: false },
      ...{ error: null, incomplete_details: null, instructions: null, max_output_tokens: null, model: 'remote' },
      output: [reasoningItem('Hm.'), messageItem('Paris.')],
      ...{ parallel_tool_calls: true, previous_response_id: null, reasoning: { effort: null, summary: null } },
      ...{ store: false, temperature: null, text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [] },
      ...{ top_p: null, truncation: 'disabled', usage, metadata: {} },
    });
    expect(response.headers.get('x-parlance-model')).toBe('remote');
    expect(response.headers.has('x-parlance-ignored')).toBe(false);
  });

  it('repeats the fields of the request, and names those without an effect', async () => {
    const { openai, provider } = await startChatService(says('{}'));
    const said = {
      ...{ instructions: 'Be brief.', temperature: 0.5, top_p: 0.9, max_output_tokens: 50, metadata: { topic: 'x' } },
      ...{ text: { format: { type: 'json_object' as const } }, reasoning: { effort: 'low' as const, summary: null } },
      ...{ parallel_tool_calls: false, tool_choice: 'auto' as const },
    };
    const hints = { user: 'me', service_tier: 'auto' as const, prompt_cache_key: 'k', store: true };
    const asked = { ...ask, ...said, ...hints, truncation: 'auto' as const, include: [] };
    const { data, response } = await openai.responses.create(asked).withResponse();
    expect(data).toMatchObject({ ...said, store: false, truncation: 'disabled' });
    expect(response.headers.get('x-parlance-ignored')).toBe('store, truncation, user, service_tier, prompt_cache_key');
    expect((await sentTo(provider))[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: ask.input },
      ],
      ...{ temperature: 0.5, top_p: 0.9, max_tokens: 50, reasoning_effort: 'low' },
      response_format: { type: 'json_object' },
    });
  });

  it('has a usage of zeros when the provider reports none, and a message even if it is empty', async () => {
    const { openai } = await startChatService(streams(chunk({}, 'stop')));
    const { output, usage: none } = await openai.responses.create(ask);
    expect(none).toEqual(zeros);
    expect(output).toEqual([messageItem('')]);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('may be cut: %s', async (finish, reason) => {
    const { openai } = await startChatService(streams(chunk({ content: 'Pa' }), chunk({}, finish)));
    const cut = { status: 'incomplete', incomplete_details: { reason }, completed_at: null };
    const whole = await openai.responses.create(ask);
    expect(whole).toMatchObject({ ...cut, output: [messageItem('Pa', 'incomplete')] });
    const events = await listed(await openai.responses.create({ ...ask, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: cut });
  });

  it('reads the same whole and in events, whatever the number of steps', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const script: Script = [
      ...[stepStarted(0), reasoning(0, 'Hm.'), toolStarted(0, 0), toolFinished(0, 0)],
      ...[stepStarted(1), reasoning(1, 'Yes.'), content(1, 'Let me '), content(1, 'look.'), toolStarted(1, 0)],
      ...[toolFinished(1, 0), stepStarted(2), reasoning(2, 'Late.'), content(2, ''), content(2, 'It is Paris.')],
      completed('It is Paris.', 'Hm.\n\nYes.\n\nLate.'),
    ];
    const expected = [reasoningItem('Hm.\n\nYes.'), messageItem('Let me look.\n\nIt is Paris.')];
    expect((await openai.responses.create(ofScript(script))).output).toEqual(expected);
    const final = await openai.responses.stream(ofScript(script)).finalResponse();
    // The helper adds a field to each text.
    expect(final.output).toMatchObject(expected);
    expect(final.output_text).toBe('Let me look.\n\nIt is Paris.');
  });
});

describe('a stream', () => {
  const place = (output_index: number, item_id: string) => ({ output_index, item_id });

  it('has named events in order, the whole response in the last, and no [DONE]', async () => {
    const { service } = await startChatService(paris);
    const { text, events } = await readEvents(await postResponse(service, { ...ask, stream: true }));
    expect(text).toMatch(/^(event: response\.[a-z_.]+\ndata: .+\n\n)+$/);
    const [created, , , , rs] = events;
    const [rsId, msgId] = [rs?.item_id, events.find(({ type }) => type === 'response.output_text.delta')?.item_id];
    const begun = { ...created!.response, output: [], usage: null, status: 'in_progress', completed_at: null };
    const summary = (extra: object) => ({ ...place(0, rsId!), summary_index: 0, ...extra });
    const part = (extra: object) => ({ ...place(1, msgId!), content_index: 0, ...extra });
    const hm = { type: 'summary_text', text: 'Hm.' };
    const item = { id: msgId, type: 'message', role: 'assistant' };
    const done = { ...item, status: 'completed', content: [outputText('Paris.')] };
    const thought = { ...reasoningItem('Hm.'), id: rsId };
    expect(events.map(({ type, sequence_number: _, ...event }) => [type.replace('response.', ''), event])).toEqual([
      ['created', { response: begun }],
      ['in_progress', { response: begun }],
      ['output_item.added', { output_index: 0, item: { ...thought, status: 'in_progress', summary: [] } }],
      ['reasoning_summary_part.added', summary({ part: { ...hm, text: '' } })],
      ['reasoning_summary_text.delta', summary({ delta: 'Hm.' })],
      ['reasoning_summary_text.done', summary({ text: 'Hm.' })],
      ['reasoning_summary_part.done', summary({ part: hm })],
      ['output_item.done', { output_index: 0, item: thought }],
      ['output_item.added', { output_index: 1, item: { ...item, status: 'in_progress', content: [] } }],
      ['content_part.added', part({ part: outputText('') })],
      ['output_text.delta', part({ delta: 'Paris.', logprobs: [] })],
      ['output_text.done', part({ text: 'Paris.', logprobs: [] })],
      ['content_part.done', part({ part: outputText('Paris.') })],
      ['output_item.done', { output_index: 1, item: done }],
      [
        'completed',
        { response: { ...begun, status: 'completed', completed_at: now(), output: [thought, done], usage } },
      ],
    ]);
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    expect(rsId).toEqual(idOf('rs'));
    expect(msgId).toEqual(idOf('msg'));
  });
});

describe('a failure', () => {
  const failedWith = async (script: Script, options = {}) => {
    const { service } = await startChatService(says(''), options);
    const { text, events } = await readEvents(await postResponse(service, { ...ofScript(script), stream: true }));
    expect(text).not.toContain('[DONE]');
    return events.at(-1)!;
  };

  it.each<[EngineErrorCode | 'crash', string, string]>([
    ['provider-overloaded', 'server_error', 'It failed.'],
    ['provider-rate-limited', 'rate_limit_exceeded', 'It failed.'],
    ['provider-quota-exhausted', 'insufficient_quota', 'It failed.'],
    ['context-length-exceeded', 'context_length_exceeded', 'It failed.'],
    ['crash', 'server_error', 'The engine failed unexpectedly.'],
  ])('in the middle is response.failed, with the output until then: %s', async (fail, code, message) => {
    const failure = fail === 'crash' ? { crash: 'a private fact' } : { fail };
    const last = await failedWith([stepStarted(0), reasoning(0, 'Hm.'), content(0, 'Hi'), failure]);
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: 11,
      response: { status: 'failed', completed_at: null, usage: zeros, error: { code } },
    });
    expect(last.response!.error!.message).not.toContain('private');
    if (fail !== 'crash') expect(last.response!.error!.message).toBe(message);
    expect(last.response!.output).toEqual([reasoningItem('Hm.'), messageItem('Hi', 'incomplete')]);
  });

  it('once a stream is no longer held is response.failed', async () => {
    const last = await failedWith([stepStarted(0), { wait: 200 }, { fail: 'provider-error' }], { streamHoldMs: 1 });
    expect(last).toMatchObject({ type: 'response.failed', sequence_number: 2, response: { output: [] } });
  });

  it('at shutdown is response.failed, too', async () => {
    const { openai, service } = await startChatService(stallsAfter(chunk({ content: 'Pa' })));
    const seen: Event[] = [];
    let stopped: Promise<void> | undefined;
    for await (const event of await openai.responses.create({ ...ask, stream: true })) {
      seen.push(event as Event);
      if (event.type === 'response.output_text.delta') stopped ??= service.service.stop(0);
    }
    expect(seen.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'server_error' }, output: [messageItem('Pa', 'incomplete')] },
    });
    await stopped;
  });

  it('of a stream is in the log, with its cause', async () => {
    const { service } = await startChatService(says(''));
    const script: Script = [stepStarted(0), content(0, 'Hi'), { fail: 'provider-error' }];
    await readEvents(await postResponse(service, { ...ofScript(script), stream: true }));
    expect(service.log).toContainEqual(
      expect.objectContaining({ msg: 'a request failed', operation: 'createResponse', code: 'provider-error' }),
    );
  });
});

const weather = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: false } as const;
const history = [
  { role: 'user' as const, content: 'How is the weather in Paris?' },
  { type: 'function_call' as const, call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
  { type: 'function_call_output' as const, call_id: 'call_1', output: 'Sunny.' },
];

describe('with tools of the caller', () => {
  const asksForWeather = calls(
    { id: 'a', name: 'weather', args: '{"city":"Paris"}' },
    { id: 'b', name: 'agents__wait', args: '{}' },
  );
  const wait = { type: 'function', name: 'wait', parameters: { type: 'object' } };
  const tools = [weather, { type: 'namespace', name: 'agents', description: 'Agents', tools: [wait] }];
  const call = (id: string, name: string, args: string) => ({
    ...{ id: idOf('fc'), type: 'function_call', status: 'completed', call_id: id, name, arguments: args },
  });
  const output = [call('a', 'weather', '{"city":"Paris"}'), { ...call('b', 'wait', '{}'), namespace: 'agents' }];

  it('the calls are the output, by the names of the caller, and no tool of the service is offered', async () => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService(asksForWeather, { settings: mcp.settings });
    const asked = { ...ask, tools: tools as never, tool_choice: { type: 'function' as const, name: 'weather' } };
    const { data, response } = await openai.responses.create(asked).withResponse();
    expect(data).toMatchObject({ output, tools, tool_choice: asked.tool_choice, status: 'completed' });
    expect(data.output).toEqual(output);
    expect(response.headers.has('x-parlance-ignored')).toBe(false);
    const [sent] = await sentTo(provider);
    expect(sent).toMatchObject({ tool_choice: { type: 'function', function: { name: 'weather' } } });
    expect((sent?.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'weather',
      'agents__wait',
    ]);
  });

  it('a stream has each call in four events', async () => {
    const { service } = await startChatService(asksForWeather);
    const { events } = await readEvents(await postResponse(service, { ...ask, tools, stream: true }));
    const ofCalls = events
      .slice(2, -1)
      .map(({ type, item, delta, name, arguments: args, output_index: at }) => [
        ...[type.replace('response.', ''), at, item?.status ?? delta ?? name, args ?? item?.arguments],
      ]);
    expect(ofCalls).toEqual([
      ['output_item.added', 0, 'in_progress', ''],
      ['function_call_arguments.delta', 0, '{"city":"Paris"}', undefined],
      ['function_call_arguments.done', 0, 'weather', '{"city":"Paris"}'],
      ['output_item.done', 0, 'completed', '{"city":"Paris"}'],
      ['output_item.added', 1, 'in_progress', ''],
      ['function_call_arguments.delta', 1, '{}', undefined],
      ['function_call_arguments.done', 1, 'wait', '{}'],
      ['output_item.done', 1, 'completed', '{}'],
    ]);
    expect(events.at(-1)?.response?.output).toEqual(output);
  });

  it('the results go to the model in the next request', async () => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService(says('Sunny.'), { settings: mcp.settings });
    await openai.responses.create({ model: 'remote', input: history });
    const [sent] = await sentTo(provider);
    expect(sent).not.toHaveProperty('tools');
    expect(sent?.messages).toEqual([
      history[0],
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' },
    ]);
  });

  it('tools of other types are dropped and named beside a function, and refused without one', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const hosted = [{ type: 'web_search' }, { type: 'web_search' }, { type: 'mcp', server_label: 'x' }, { type: 'é' }];
    const { response } = await openai.responses.create({ ...ask, tools: [...hosted, weather] as never }).withResponse();
    expect(response.headers.get('x-parlance-ignored')).toBe('tools.web_search, tools.mcp, tools[3]');
    const refused: unknown = await openai.responses.create({ ...ask, tools: hosted as never }).catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ code: 'unsupported_value', param: 'tools[0].type' });
  });
});

describe('a reference to an item', () => {
  const env = { API_KEYS: 'one,two' };
  const first = { model: 'remote', input: [{ role: 'user' as const, content: 'Hi.' }] };
  const refer = (...ids: string[]) => ({
    model: 'remote',
    input: [
      ...first.input,
      ...ids.map((id) => ({ type: 'item_reference' as const, id })),
      { role: 'user' as const, content: 'And?' },
    ],
  });
  const said = [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'Paris.' },
    { role: 'user', content: 'And?' },
  ];

  it.each([false, true])('of an earlier response is its text; reasoning is dropped; stream: %s', async (stream) => {
    const { openai, provider } = await startChatService(paris);
    const { output } = stream
      ? await openai.responses.stream(first).finalResponse()
      : await openai.responses.create(first);
    await openai.responses.create(refer(...output.map(({ id }) => id!)));
    expect((await sentTo(provider))[1]?.messages).toEqual(said);
  });

  it('may be to a call', async () => {
    const { openai, provider } = await startChatService([
      calls({ id: 'a', name: 'weather', args: '{}' }),
      says('Sunny.'),
    ]);
    const { output } = await openai.responses.create({ ...first, tools: [weather] });
    await openai.responses.create({
      ...{ model: 'remote', tools: [weather] },
      input: [
        ...first.input,
        { type: 'item_reference', id: output[0]!.id! },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'Sunny.' }] },
      ],
    });
    expect((await sentTo(provider))[1]?.messages).toMatchObject([
      first.input[0],
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'weather', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'Sunny.' },
    ]);
  });

  const notFound = { status: 404, code: 'item_not_found', param: 'input[1].id', type: 'invalid_request_error' };

  it('of another key, or to an unknown id, is 404 item_not_found', async () => {
    const { service } = await startChatService(paris, { env });
    const [one, two] = ['one', 'two'].map((apiKey) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey }));
    const { output } = await one!.responses.create(first);
    const id = output.at(-1)!.id!;
    await one!.responses.create(refer(id));
    await expect(two!.responses.create(refer(id))).rejects.toMatchObject(notFound);
    const error = (await one!.responses.create(refer('msg_0')).catch((e: unknown) => e)) as APIError;
    expect(error).toMatchObject(notFound);
    expect(error.message).toContain('input[1].id "msg_0" is not kept here; set store: false in your app');
  });

  it.each([
    ['the request says store: false', {}, { store: false }],
    ['COMPAT_ITEMS is off', { env: { COMPAT_ITEMS: 'off' } }, {}],
  ])('is not possible when %s', async (_when, options, fields) => {
    const { openai } = await startChatService(paris, options);
    const { output } = await openai.responses.create({ ...first, ...fields });
    await expect(openai.responses.create(refer(output.at(-1)!.id!))).rejects.toMatchObject(notFound);
  });
});

describe('a refusal', () => {
  it.each<[string, object, object]>([
    ['no input', { input: undefined }, { param: 'input', code: 'invalid_request' }],
    ['an empty input', { input: '' }, { param: 'input', code: 'invalid_request' }],
    ['no items', { input: [] }, { param: 'input', code: 'invalid_request' }],
    ['only a system message', { input: [{ role: 'system', content: 'x' }] }, { param: 'input' }],
    ['a number as input', { input: 5 }, { param: 'input' }],
    ['a number as content', { input: [{ role: 'user', content: 5 }] }, { param: 'input[0].content' }],
    ['an unknown role', { input: [{ role: 'tool', content: '' }] }, { param: 'input[0].role' }],
    ['2001 items', { input: Array(2001).fill({ role: 'user', content: '' }) }, { param: 'input' }],
    ['129 tools', { tools: Array(129).fill(weather) }, { param: 'tools' }],
    ['previous_response_id', { previous_response_id: 'resp_1' }, { param: 'previous_response_id' }],
    ['background', { background: true }, { param: 'background', code: 'unsupported_parameter' }],
    ['other things to include', { include: ['file_search_call.results'] }, { param: 'include' }],
  ])('is 400 and names the field: %s', async (_what, fields, expected) => {
    const { openai, provider } = await startChatService(says('Hi.'));
    const error: unknown = await openai.responses.create({ ...ask, ...fields } as never).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ type: 'invalid_request_error', ...expected });
    expect(provider.calls).toHaveLength(0);
  });

  it('of tools by a model without them is 400', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const asking = openai.responses.create({ ...ofScript([]), tools: [weather] });
    await expect(asking).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'tools' });
    const calling = openai.responses.create({ model: 'scripted', input: history });
    await expect(calling).rejects.toMatchObject({ status: 400, param: 'input[1]' });
  });
});

it('null and empty values count as absent', async () => {
  const { openai, provider } = await startChatService(says('Hi.'));
  const nulls = Object.fromEntries(
    [
      ...['instructions', 'tools', 'tool_choice', 'text', 'reasoning', 'include', 'metadata', 'stream', 'store'],
      ...['truncation', 'previous_response_id', 'conversation', 'prompt', 'background', 'max_tool_calls', 'user'],
      ...['temperature', 'top_p', 'max_output_tokens', 'parallel_tool_calls', 'top_logprobs', 'stream_options'],
    ].map((name) => [name, null]),
  );
  const empty = { instructions: '', tools: [], text: {}, reasoning: {}, include: [], metadata: {}, background: false };
  for (const fields of [nulls, { ...empty, top_logprobs: 0 }]) {
    const { data, response } = await openai.responses.create({ ...ask, ...fields } as never).withResponse();
    expect(data.output_text).toBe('Hi.');
    expect(response.headers.has('x-parlance-ignored')).toBe(false);
  }
  const [first, second] = await sentTo(provider);
  expect(second).toEqual(first);
});
