/** The call of the engine that a request for a response becomes, and refusals. */
import { describe, expect, it } from 'vitest';
import type { Feature } from '../../engines/contract/index.ts';
import type { KeptItem } from '../../src/chat/item-store.ts';
import { ProblemError } from '../../src/contract/problems.ts';
import type { ServedModel } from '../../src/engine-host/models/served-models.ts';
import { ItemNotFound, UnsupportedValue } from '../../src/openai/errors.ts';
import type { Schemas } from '../../src/openai/operations.ts';
import { toCall } from '../../src/openai/responses/request.ts';
import { calledTool } from '../../src/openai/responses/tools.ts';

type Body = Schemas['ResponseRequest'];
type Item = Schemas['InputItem'];

const kept = new Map<string, KeptItem>([
  ['msg_1', { type: 'message', text: 'Paris.' }],
  ['fc_1', { type: 'function_call', call: { id: 'a', name: 'weather', arguments: '{}' } }],
]);
const items = { keep: () => undefined, find: (id: string) => kept.get(id), [Symbol.dispose]: () => undefined };

function plan(body: Body, supports: readonly Feature[] = ['tools', 'json']) {
  const model = { id: 'm', entry: { id: 'm', local: true, supports } } as unknown as ServedModel<'chat'>;
  return toCall({ input: 'Hello', ...body }, model, items);
}

const messagesOf = (...input: Item[]) => plan({ input }).call.messages;

/** Code and pointer of the refusal. */
function refusal(body: Body, supports?: readonly Feature[]) {
  try {
    plan(body, supports);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const own = error instanceof UnsupportedValue || error instanceof ItemNotFound ? error.codeHere : undefined;
    return { code: own ?? error.code, pointer: error.errors?.[0]?.pointer };
  }
  throw new Error('it was not refused');
}

const user: Item = { role: 'user', content: 'Hello' };
const call = (id: string, more: Item = {}): Item => ({
  ...{ type: 'function_call', call_id: id, name: 'weather', arguments: '{}' },
  ...more,
});
const output = (id: string, text: Item['output'] = 'Sunny.'): Item => ({
  ...{ type: 'function_call_output', call_id: id, output: text },
});
const called = (...ids: string[]) => ids.map((id) => ({ id, name: 'weather', arguments: '{}' }));
const answered = (toolCallId: string) => ({ role: 'tool', content: 'Sunny.', toolCallId });

describe('messages', () => {
  it('come from a text and the instructions', () => {
    expect(plan({ input: 'Hello', instructions: 'Be brief.' }).call).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    expect(plan({ input: 'Hello', instructions: '' }).call.messages).toHaveLength(1);
  });

  it('keep their roles, with and without a type; a developer is the system', () => {
    const roles = ['system', 'developer', 'user', 'assistant'];
    const given = roles.map((role, index) => ({ role, content: role, ...(index % 2 === 0 && { type: 'message' }) }));
    expect(messagesOf(...given)).toEqual([
      { role: 'system', content: 'system' },
      { role: 'system', content: 'developer' },
      { role: 'user', content: 'user' },
      { role: 'assistant', content: 'assistant' },
    ]);
  });

  it('have the texts of their parts, joined by a line feed', () => {
    const parts = [
      { type: 'input_text', text: 'a' },
      { type: 'output_text', text: 'b' },
    ];
    expect(messagesOf({ role: 'user', content: parts })).toEqual([{ role: 'user', content: 'a\nb' }]);
    const refused = [...parts, { type: 'refusal', refusal: 'no' }];
    expect(messagesOf(user, { role: 'assistant', content: refused }).at(-1)?.content).toBe('a\nb\nno');
    expect(messagesOf(user, { role: 'assistant', content: null }).at(-1)?.content).toBe('');
  });

  it('have the calls that follow them, and their outputs in any order', () => {
    const speaks = { role: 'assistant', content: 'Let me look.' };
    const result = plan({ input: [user, speaks, call('a'), call('b'), output('b'), output('a'), user] });
    expect(result.call.messages).toEqual([
      user,
      { ...speaks, toolCalls: called('a', 'b') },
      ...[answered('b'), answered('a'), user],
    ]);
    expect(result.isCallersLoop).toBe(true);
  });

  it('without a text before the calls are of the assistant; a text after them joins them', () => {
    const speaks = { role: 'assistant', content: 'Let me look.' };
    const turn = (content: string, ...ids: string[]) => ({ role: 'assistant', content, toolCalls: called(...ids) });
    expect(messagesOf(call('a'), output('a'), call('a'), speaks, output('a', []), call('b'), output('b'))).toEqual([
      ...[turn('', 'a'), answered('a'), turn('Let me look.', 'a'), { ...answered('a'), content: '' }],
      ...[turn('', 'b'), answered('b')],
    ]);
  });

  it('have no reasoning, whatever its shape', () => {
    expect(messagesOf(user, { type: 'reasoning', id: 'rs_1' }, { type: 'reasoning', content: null })).toEqual([user]);
  });

  it('may be references to kept items; those to reasoning are dropped', () => {
    const refer = (id: string): Item => ({ type: 'item_reference', id });
    expect(messagesOf(user, refer('rs_9'), { id: 'msg_1' }, refer('fc_1'), output('a'))).toEqual([
      user,
      { role: 'assistant', content: 'Paris.', toolCalls: called('a') },
      answered('a'),
    ]);
    expect(refusal({ input: [user, refer('msg_9')] })).toEqual({ code: 'item_not_found', pointer: '/input/1/id' });
    expect(refusal({ input: [user, refer('__proto__')] }).code).toBe('item_not_found');
  });

  it.each<[string, Item[], string]>([
    ['an output without its call', [user, output('a')], '/input/1/call_id'],
    ['an output of another call', [call('a'), output('b')], '/input/1/call_id'],
    ['an output a second time', [call('a'), output('a'), output('a')], '/input/2/call_id'],
    ['an output too late', [call('a'), user, output('a')], '/input/0/call_id'],
    ['a call between outputs', [call('a'), call('b'), output('a'), call('c')], '/input/1/call_id'],
    ['a call without an output', [user, call('a')], '/input/1/call_id'],
    ['a call without an id', [{ type: 'function_call', name: 'x', arguments: '{}' }], '/input/0/call_id'],
    ['a call without a name', [call('a', { name: null })], '/input/0/name'],
    ['a reference without an id', [{ type: 'item_reference' }], '/input/0/id'],
    ['a message without a role', [{ content: 'x' }], '/input/0/role'],
    ['a role of an object', [{ role: 'constructor', content: 'x' }], '/input/0/role'],
    ['a user without content', [{ role: 'user' }], '/input/0/content'],
    ['a part without text', [{ role: 'user', content: [{ type: 'input_text' }] }], '/input/0/content/0/text'],
    ['nothing but reasoning', [{ type: 'reasoning' }], '/input'],
  ])('are refused: %s', (_what, input, pointer) => {
    expect(refusal({ input })).toEqual({ code: 'invalid-request', pointer });
  });

  it.each<[string, Item, string]>([
    ['an image', { role: 'user', content: [{ type: 'input_text', text: '' }, { type: 'input_image' }] }, '/content/1'],
    ['a file', { role: 'user', content: [{ type: 'input_file' }] }, '/content/0'],
    ['a refusal of the user', { role: 'user', content: [{ type: 'refusal', refusal: '' }] }, '/content/0'],
    ['a call of a hosted tool', { type: 'web_search_call', id: 'ws_1' }, '/type'],
  ])('are refused by name: %s', (_what, item, place) => {
    expect(refusal({ input: [user, item] })).toEqual({ code: 'unsupported_value', pointer: `/input/1${place}` });
  });

  it('may have a million characters in all', () => {
    const content = 'x'.repeat(500_000);
    expect(messagesOf({ role: 'user', content }, { role: 'user', content })).toHaveLength(2);
    const input = [{ role: 'user', content }, call('a', { arguments: content }), output('a')];
    expect(refusal({ input })).toEqual({ code: 'invalid-request', pointer: '/input' });
  });
});

describe('tools', () => {
  const weather = { type: 'function', name: 'weather', description: 'Weather.', parameters: { type: 'object' } };
  const inner = { type: 'function', name: 'wait' };
  const agents = (...tools: object[]) => ({ type: 'namespace', name: 'agents', tools }) as Schemas['ResponseTool'];

  it('are functions, those of a namespace with its name before theirs', () => {
    const { call: planned, inNamespace, ignored } = plan({ tools: [weather, agents(inner)], tool_choice: 'required' });
    const { type: _, ...definition } = weather;
    expect(planned).toMatchObject({ tools: [definition, { name: 'agents__wait' }], toolChoice: 'required' });
    const named = (name: string) => calledTool({ id: '', name, arguments: '' }, inNamespace);
    expect(named('agents__wait')).toEqual({ name: 'wait', namespace: 'agents' });
    expect(named('weather')).toEqual({ name: 'weather' });
    expect(ignored).toEqual([]);
  });

  it('in a namespace have that name in the history, too', () => {
    const { messages } = plan({ input: [user, call('a', { name: 'wait', namespace: 'agents' }), output('a')] }).call;
    expect(messages[1]?.toolCalls).toEqual([{ id: 'a', name: 'agents__wait', arguments: '{}' }]);
  });

  it('with a name that is taken or too long are dropped and named, as are those of other types', () => {
    const long = { type: 'function', name: 'x'.repeat(57) };
    const taken = { type: 'function', name: 'agents__wait' };
    const hosted = { type: 'web_search' };
    const { call: planned, ignored } = plan({
      tools: [agents(inner, long, { type: 'custom', name: 'y' }), hosted, taken, { type: 'a\r\nb: c' }, hosted],
    });
    expect(planned.tools).toEqual([{ name: 'agents__wait' }]);
    expect(ignored).toEqual(['tools[0].tools[0]', 'tools[0].tools[1]', 'tools.custom', 'tools.web_search', 'tools[3]']);
  });

  it('that are an empty list, null or an empty namespace leave the loop to the service', () => {
    for (const tools of [[], null, [agents()]]) {
      expect(plan({ tools, tool_choice: 'auto' })).toMatchObject({ call: { messages: [user] }, isCallersLoop: false });
    }
  });

  it.each<[string, Body, string, string]>([
    ['only hosted', { tools: [{ type: 'web_search' }] }, 'unsupported_value', '/tools/0/type'],
    [
      'only hosted in a namespace',
      { tools: [agents({ type: 'custom' })] },
      'unsupported_value',
      '/tools/0/tools/0/type',
    ],
    ['without a name', { tools: [{ type: 'function' }] }, 'invalid-request', '/tools/0/name'],
    ['namespace without a name', { tools: [{ type: 'namespace' }] }, 'invalid-request', '/tools/0/name'],
    ['no name inside', { tools: [agents({ type: 'function' })] }, 'invalid-request', '/tools/0/tools/0/name'],
    ['required, but none', { tool_choice: 'required' }, 'parameter-not-supported', '/tool_choice'],
    [
      'a hosted choice',
      { tools: [weather], tool_choice: { type: 'web_search' } },
      'unsupported_value',
      '/tool_choice/type',
    ],
    [
      'an unknown choice',
      { tools: [weather], tool_choice: { type: 'function', name: 'x' } },
      'invalid-request',
      '/tool_choice/name',
    ],
    [
      'more than 128 in all',
      { tools: [weather, agents(...Array.from({ length: 128 }, (_, i) => ({ ...inner, name: `t${i}` })))] },
      'invalid-request',
      '/tools',
    ],
  ])('are refused: %s', (_what, body, code, pointer) => {
    expect(refusal(body)).toEqual({ code, pointer });
  });

  it('are only for models that support them', () => {
    expect(refusal({ tools: [weather] }, ['json'])).toEqual({ code: 'parameter-not-supported', pointer: '/tools' });
    const input = [user, call('a'), output('a')];
    expect(refusal({ input }, ['json'])).toEqual({ code: 'parameter-not-supported', pointer: '/input/1' });
  });
});

describe('fields', () => {
  const schema = { name: 'city', schema: { type: 'object' }, strict: true };

  it('of structured output, reasoning and parallel calls go to the provider as of chat completions', () => {
    const body: Body = {
      ...{ text: { format: { type: 'json_schema', ...schema }, verbosity: 'low' } },
      ...{ reasoning: { effort: 'low', summary: 'auto' }, parallel_tool_calls: true },
    };
    const { call: planned, ignored } = plan(body);
    expect(planned.provider).toEqual({
      response_format: { type: 'json_schema', json_schema: schema },
      reasoning_effort: 'low',
      parallel_tool_calls: true,
    });
    expect(ignored).toEqual(['text.verbosity']);
  });

  it.each([[null], [{}], [{ format: null }], [{ format: { type: 'text' } }]])('text %j is plain', (text) => {
    expect(plan({ text }).call).toEqual({ messages: [user] });
  });

  it('that the model cannot take are dropped and named, or refused if they change the answer', () => {
    const { call: planned, ignored } = plan({ reasoning: { effort: 'low' }, parallel_tool_calls: true }, []);
    expect(planned).toEqual({ messages: [user] });
    expect(ignored).toEqual(['reasoning.effort', 'parallel_tool_calls']);
    const json = { text: { format: { type: 'json_object' } } };
    expect(refusal(json, [])).toEqual({ code: 'parameter-not-supported', pointer: '/text/format' });
    const unknown = { text: { format: { type: 'grammar' } } };
    expect(refusal(unknown)).toEqual({ code: 'unsupported_value', pointer: '/text/format/type' });
  });

  it.each([
    ['previous_response_id', 'resp_1'],
    ['conversation', { id: 'conv_1' }],
    ['prompt', { id: 'pmpt_1' }],
    ['background', true],
    ['top_logprobs', 3],
    ['max_tool_calls', 1],
  ])('that change the answer are refused: %s', (name, value) => {
    expect(refusal({ [name]: value })).toEqual({ code: 'parameter-not-supported', pointer: `/${name}` });
    for (const absent of [null, false, 0, '']) expect(plan({ [name]: absent }).call.messages).toHaveLength(1);
  });
});
