/** What an engine receives of a chat completion, and what is refused before it is asked. */
import { describe, expect, it } from 'vitest';
import type { Feature } from '../../engines/contract/index.ts';
import { ProblemError } from '../../src/contract/problems.ts';
import type { ServedModel } from '../../src/engine-host/models/served-models.ts';
import { toCall } from '../../src/openai/chat-request.ts';
import { UnsupportedValue } from '../../src/openai/errors.ts';
import type { Schemas } from '../../src/openai/operations.ts';

type Body = Schemas['ChatCompletionRequest'];
type Message = Schemas['ChatMessage'];

const user = { role: 'user', content: 'Hello' } as const;
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const asks = (...ids: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } })),
});
const answers = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: 'Sunny.' });

function plan(body: Partial<Body>, supports: readonly Feature[] = ['tools', 'json']) {
  const model = { id: 'm', entry: { id: 'm', local: true, supports } } as unknown as ServedModel<'chat'>;
  return toCall({ messages: [user], ...body }, model);
}

const messagesOf = (...messages: Message[]) => plan({ messages }).call.messages;

/** Pointer and rule of the refusal. */
function refusal(body: Partial<Body>, supports?: readonly Feature[]) {
  try {
    plan(body, supports);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const code = error instanceof UnsupportedValue ? 'unsupported-value' : error.code;
    return { code, pointer: error.errors?.[0]?.pointer };
  }
  throw new Error('it was not refused');
}

describe('messages', () => {
  it('keep their roles; a developer is the system', () => {
    const roles = ['system', 'developer', 'user', 'assistant'] as const;
    expect(messagesOf(...roles.map((role) => ({ role, content: role })))).toEqual([
      { role: 'system', content: 'system' },
      { role: 'system', content: 'developer' },
      { role: 'user', content: 'user' },
      { role: 'assistant', content: 'assistant' },
    ]);
  });

  it('have the texts of their parts, joined by a line feed', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: '' },
      { type: 'text', text: 'b' },
    ];
    expect(messagesOf({ role: 'user', content: parts })).toEqual([{ role: 'user', content: 'a\n\nb' }]);
    const refused = [...parts.slice(0, 1), { type: 'refusal', refusal: 'no' }];
    expect(messagesOf({ role: 'assistant', content: refused })).toEqual([{ role: 'assistant', content: 'a\nno' }]);
  });

  it.each([[null], [undefined], [''], [[]]])('of the assistant may have the content %j', (content) => {
    expect(messagesOf({ role: 'assistant', ...(content !== undefined && { content }) })).toEqual([
      { role: 'assistant', content: '' },
    ]);
  });

  it('may be empty', () => {
    expect(messagesOf({ role: 'user', content: '' }, { role: 'system', content: [] })).toEqual([
      { role: 'user', content: '' },
      { role: 'system', content: '' },
    ]);
  });

  it('have the calls of tools and their outputs, in any order', () => {
    const calls = ['a', 'b'].map((id) => ({ id, name: 'weather', arguments: '{}' }));
    const { call, isCallersLoop } = plan({ messages: [user, asks('a', 'b'), answers('b'), answers('a'), user] });
    expect(call.messages.slice(1, 4)).toEqual([
      { role: 'assistant', content: '', toolCalls: calls },
      { role: 'tool', content: 'Sunny.', toolCallId: 'b' },
      { role: 'tool', content: 'Sunny.', toolCallId: 'a' },
    ]);
    expect(isCallersLoop).toBe(true);
  });

  it('may repeat the ids of calls, even within a message', () => {
    expect(messagesOf(asks('a', 'a'), answers('a'), answers('a'), asks('a'), answers('a'))).toHaveLength(5);
  });

  it.each<[string, Message[], string]>([
    ['without its call', [user, answers('a')], '/messages/1/tool_call_id'],
    ['of another call', [asks('a'), answers('b')], '/messages/1/tool_call_id'],
    ['a second time', [asks('a'), answers('a'), answers('a')], '/messages/2/tool_call_id'],
    ['of an earlier message', [asks('a'), answers('a'), asks('b'), answers('a')], '/messages/3/tool_call_id'],
    ['without an id', [asks('a'), { role: 'tool', content: '' }], '/messages/1/tool_call_id'],
    ['too late', [asks('a'), user, answers('a')], '/messages/0/tool_calls'],
    ['not at all', [user, asks('a', 'b'), answers('a')], '/messages/1/tool_calls'],
  ])('are refused with an output of a tool %s', (_what, messages, pointer) => {
    expect(refusal({ messages })).toEqual({ code: 'invalid-request', pointer });
  });

  it.each<[string, Message, string, string]>([
    [
      'image',
      { role: 'user', content: [{ type: 'text', text: '' }, { type: 'image_url' }] },
      'unsupported-value',
      '/content/1',
    ],
    ['audio', { role: 'user', content: [{ type: 'input_audio' }] }, 'unsupported-value', '/content/0'],
    ['file', { role: 'user', content: [{ type: 'file' }] }, 'unsupported-value', '/content/0'],
    [
      'refusal of the user',
      { role: 'user', content: [{ type: 'refusal', refusal: '' }] },
      'unsupported-value',
      '/content/0',
    ],
    ['part without text', { role: 'user', content: [{ type: 'text' }] }, 'invalid-request', '/content/0/text'],
    ['user without content', { role: 'user', content: null }, 'invalid-request', '/content'],
    ['tool of another kind', { ...asks('a'), ...custom() }, 'unsupported-value', '/tool_calls/0/type'],
    ['function', { role: 'function', content: '' }, 'parameter-not-supported', '/role'],
    ['call of a function', { role: 'assistant', function_call: {} }, 'parameter-not-supported', '/function_call'],
  ])('are refused with: %s', (_what, message, code, place) => {
    expect(refusal({ messages: [user, message] })).toEqual({ code, pointer: `/messages/1${place}` });
  });

  it('may have a million characters in all', () => {
    const half = '🎈'.repeat(250_000);
    const content = half + 'x'.repeat(250_000);
    expect(messagesOf({ role: 'user', content }, { role: 'user', content })).toHaveLength(2);
    const messages: Message[] = [{ role: 'user', content }, { role: 'user', content }, user];
    expect(refusal({ messages })).toEqual({ code: 'invalid-request', pointer: '/messages' });
  });
});

function custom(): Partial<Message> {
  return { tool_calls: [{ id: 'a', type: 'custom', function: { name: '', arguments: '' } }] };
}

it('an empty list of functions and the default function_call count as absent', () => {
  for (const function_call of ['auto', 'none', null]) {
    expect(plan({ functions: [], function_call }).call.messages).toEqual([user]);
  }
});

describe('fields', () => {
  it('become those of the call', () => {
    expect(plan({ temperature: 0, top_p: 0.5, max_tokens: 7 }).call).toEqual({
      messages: [user],
      temperature: 0,
      topP: 0.5,
      maxTokens: 7,
    });
    expect(plan({ max_tokens: 7, max_completion_tokens: 8 }).call).toMatchObject({ maxTokens: 8 });
    expect(plan({ max_tokens: 7, max_completion_tokens: null }).call).toMatchObject({ maxTokens: 7 });
  });

  it('may be null or request the default behavior', () => {
    const names = ['temperature', 'top_p', 'max_tokens', 'tools', 'tool_choice', 'stop', 'seed', 'response_format'];
    const nothing = Object.fromEntries([...names, 'n', 'logprobs', 'audio', 'functions', 'user'].map((n) => [n, null]));
    const usual = { n: 1, logprobs: false, top_logprobs: 0, modalities: ['text'], tools: [], stop: [] };
    for (const body of [nothing, { ...usual, response_format: { type: 'text' }, tool_choice: 'auto' as const }]) {
      for (const supports of [[], ['tools', 'json']] as const) {
        const expected = { call: { messages: [user] }, isCallersLoop: false, ignored: [] };
        expect(plan(body, supports)).toEqual(expected);
      }
    }
  });

  it('of the provider are forwarded', () => {
    const provider = {
      ...{ stop: ['.'], seed: 1, frequency_penalty: 0.5, presence_penalty: -0.5, logit_bias: { 5: 1 } },
      ...{ response_format: { type: 'json_object' }, reasoning_effort: 'low', parallel_tool_calls: false },
    };
    const { call, ignored } = plan({ ...provider, user: 'ada', store: false });
    expect(call.provider).toEqual(provider);
    expect(ignored).toEqual(['user', 'store']);
  });

  it('of the provider that are hints are ignored for a model without `json`', () => {
    const { call, ignored } = plan({ seed: 1, reasoning_effort: 'low', metadata: { a: '1' } }, []);
    expect(call).toEqual({ messages: [user] });
    expect(ignored).toEqual(['seed', 'reasoning_effort', 'metadata']);
  });

  it.each<[Partial<Body>, string]>([
    [{ response_format: { type: 'json_object' } }, '/response_format'],
    [{ stop: 'x' }, '/stop'],
    [{ tools: [weather] }, '/tools'],
    [{ messages: [asks('a'), answers('a')] }, '/messages/0/tool_calls'],
  ])('that need a feature are refused without it: %j', (body, pointer) => {
    expect(refusal(body, [])).toEqual({ code: 'parameter-not-supported', pointer });
  });

  it.each<[keyof Body, unknown]>([
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['audio', {}],
    ['modalities', ['text', 'audio']],
    ['web_search_options', {}],
    ['prediction', {}],
    ['functions', [{}]],
    ['function_call', {}],
    ['tool_choice', 'required'],
  ])('are refused that no one supports: %s', (name, value) => {
    expect(refusal({ [name]: value })).toEqual({ code: 'parameter-not-supported', pointer: `/${name}` });
  });
});

describe('tools', () => {
  it('are those of the caller', () => {
    const full = { name: 'b', description: 'It does b.', parameters: { type: 'object' }, strict: true };
    const tools = [
      { type: 'function', function: { name: 'a', description: null, parameters: null } },
      { type: 'function', function: full },
    ];
    const { call, isCallersLoop, ignored } = plan({ tools });
    expect(call.tools).toEqual([
      { name: 'a' },
      { name: 'b', description: 'It does b.', parameters: { type: 'object' } },
    ]);
    expect({ isCallersLoop, ignored }).toEqual({ isCallersLoop: true, ignored: ['strict'] });
  });

  it.each<[Body['tool_choice'], unknown]>([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ type: 'function', function: { name: 'weather' } }, { name: 'weather' }],
  ])('may be chosen: %j', (tool_choice, toolChoice) => {
    expect(plan({ tools: [weather], tool_choice: tool_choice! }).call).toMatchObject({ toolChoice });
  });

  it.each<[Partial<Body>, string, string]>([
    [{ tools: [{ type: 'web_search' }] }, 'unsupported-value', '/tools/0/type'],
    [{ tools: [weather, { type: 'function' }] }, 'invalid-request', '/tools/1/function'],
    [{ tool_choice: { type: 'allowed_tools' } }, 'unsupported-value', '/tool_choice/type'],
    [{ tool_choice: { type: 'function' } }, 'invalid-request', '/tool_choice/function'],
    [{ tool_choice: { type: 'function', function: { name: 'x' } } }, 'invalid-request', '/tool_choice/function/name'],
  ])('are refused: %j', (body, code, pointer) => {
    expect(refusal({ tools: [weather], ...body })).toEqual({ code, pointer });
  });
});
