/** The scripted model with tools of the caller, and with fields of OpenAI's that change the form of its answer. */
import { describe, expect, it } from 'vitest';
import type { AgentEvent, ChatCall, ChatResult, EngineContext, Message, Tool } from '../../engines/contract/index.ts';
import { chat } from '../../engines/sandbox/chat.ts';

const repeat = { name: 'repeat', description: 'Repeats it.' };
const add = { name: 'add' };

/** A tool of the service. */
const readAloud: Tool = {
  ...{ name: 'read_aloud', description: 'Reads it aloud.', parameters: {} },
  run: () => Promise.reject(new Error('a tool of the service ran')),
};

async function run(message: string | readonly Message[], call: Partial<ChatCall> = {}): Promise<AgentEvent[]> {
  const engine = await chat.create({}, {} as EngineContext);
  const messages = typeof message === 'string' ? [{ role: 'user', content: message } as const] : message;
  const signal = new AbortController().signal;
  const events: AgentEvent[] = [];
  const given = { model: 'sandbox-chat', messages, ...call };
  for await (const event of engine.complete(given, { signal, tools: [readAloud] })) events.push(event);
  return events;
}

async function ask(message: string | readonly Message[], call: Partial<ChatCall> = {}): Promise<ChatResult> {
  const last = (await run(message, call)).at(-1);
  if (last?.type !== 'completed') throw new Error('the run did not complete');
  return last.result;
}

const tools = [repeat, add];

const wide = (width: number, schema: object) =>
  Object.fromEntries(Array.from({ length: width }, (_, index) => [`p${String(index)}`, schema]));

/** The schema in each of 3,000 properties. */
function often(schema: object): object {
  return { $defs: { it: schema }, properties: wide(3_000, { $ref: '#/$defs/it' }) };
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}

describe('the caller’s tools', () => {
  it('are called by the script, in one step, with the arguments as they are written', async () => {
    const events = await run('think: a bit\ncall repeat "alpha"\ncall add {"a": 1, }', { tools });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['step-started', 'reasoning-delta', 'completed']));
    expect(events.at(-1)).toMatchObject({
      result: {
        ...{ content: '', reasoning: 'a bit', finishReason: 'tool_calls' },
        toolCalls: [
          { id: 'call-0', name: 'repeat', arguments: '{"text":"alpha"}' },
          { id: 'call-1', name: 'add', arguments: '{"a": 1, }' },
        ],
      },
    });
  });

  it.each(['Hello.', 'call other {}', 'read aloud: x'])('are not called by %j', async (message) => {
    const result = await ask(message, { tools });
    expect(result).toMatchObject({ content: `You said: ${message}`, finishReason: 'stop' });
    expect(result).not.toHaveProperty('toolCalls');
  });

  it('are called as the choice says', async () => {
    const names = async (message: string, toolChoice: ChatCall['toolChoice']) =>
      (await ask(message, { tools, ...(toolChoice && { toolChoice }) })).toolCalls?.map(({ name }) => name);
    expect(await names('Hello.', 'auto')).toBeUndefined();
    expect(await names('Hello.', 'required')).toEqual(['repeat']);
    expect(await names('Hello.', { name: 'add' })).toEqual(['add']);
    expect(await names('call repeat {}\ncall add {}', { name: 'add' })).toEqual(['add']);
    expect(await names('call repeat {}', 'none')).toBeUndefined();
    expect(await names('Hello.', { name: 'other' })).toBeUndefined();
  });

  it('are called one at a time without parallel_tool_calls', async () => {
    const { toolCalls } = await ask('call repeat {}\ncall add {}', { tools, provider: { parallel_tool_calls: false } });
    expect(toolCalls).toHaveLength(1);
  });

  it('are answered: the model says what each of them said', async () => {
    const message = 'call repeat "alpha"\ncall add {}';
    const { toolCalls = [] } = await ask(message, { tools });
    const history: Message[] = [
      { role: 'user', content: message },
      { role: 'assistant', content: '', toolCalls },
      ...toolCalls.map(({ id, name }) => ({ role: 'tool', toolCallId: id, content: `${name}!` }) as const),
    ];
    const content = `You said: ${message}\nrepeat said: repeat!\nadd said: add!`;
    expect(await ask(history, { tools })).toMatchObject({ content, finishReason: 'stop' });
    expect(await ask(history)).toMatchObject({ content, finishReason: 'stop' });
    const next = await ask([...history, { role: 'user', content: 'call add {}' }], { tools });
    expect(next).toMatchObject({ finishReason: 'tool_calls', toolCalls: [{ name: 'add' }] });
  });

  it('may have answered what no one asked', async () => {
    const odd: Message[] = [
      { role: 'tool', content: 'x' },
      { role: 'user', content: 'Hi' },
      { role: 'tool', content: 'y' },
    ];
    expect((await ask(odd, { tools })).content).toBe('You said: Hi\ntool said: y');
  });
});

describe('the fields of the caller', () => {
  const askFor = async (response_format: unknown) => (await ask('Hi', { provider: { response_format } })).content;

  it('ask for JSON', async () => {
    expect(JSON.parse(await askFor({ type: 'json_object' }))).toEqual({ answer: 'You said: Hi' });
    expect(await askFor({ type: 'text' })).toBe('You said: Hi');
  });

  it('ask for JSON of a schema', async () => {
    const schema = {
      type: 'object',
      $defs: { mood: { enum: ['calm', 'glad'] } },
      properties: {
        said: { type: 'string' },
        count: { type: 'integer', minimum: 1 },
        share: { type: ['number', 'null'] },
        isFine: { type: 'boolean' },
        list: { type: 'array', items: {} },
        mood: { $ref: '#/$defs/mood' },
        kind: { const: 7 },
        either: { anyOf: [{ type: 'object', properties: { nothing: { type: 'null' } } }, { type: 'string' }] },
        lost: { $ref: '#/nowhere' },
      },
    };
    expect(JSON.parse(await askFor({ type: 'json_schema', json_schema: { name: 'x', schema } }))).toEqual({
      ...{ said: 'You said: Hi', count: 1, share: 0, isFine: false, list: [], mood: 'calm', kind: 7 },
      ...{ either: { nothing: null }, lost: null },
    });
    expect(await askFor({ type: 'json_schema' })).toBe('{}');
  });

  it.each([
    ['refers to itself in every property', { properties: wide(8_000, { $ref: '#' }) }],
    ['refers to itself and nothing else', { $ref: '#' }],
    ['is wide on every level', { $ref: '#/$defs/a', $defs: { a: { properties: wide(5_000, { $ref: '#/$defs/a' }) } } }],
    ['is deep', JSON.parse('{"properties":{"a":'.repeat(60) + '{}' + '}}'.repeat(60)) as object],
    ['has a long constant, often', often({ const: 'c'.repeat(100_000) })],
    ['has a constant of many values, often', often({ const: Array(5_000).fill([]) })],
    ['has long names, often', often({ properties: { ['\u0001'.repeat(20_000)]: {} } })],
    ['has a long reference, often', often({ $ref: `#${'/a'.repeat(50_000)}` })],
    ['has many alternatives, often', often({ anyOf: Array(20_000).fill(1) })],
    ['has a long enum', { enum: Array.from({ length: 40_000 }, (_, index) => index) }],
    ['asks for long arrays', { type: 'array', minItems: 1e9, items: { type: 'string' } }],
    ['asks for long strings', { type: 'string', minLength: 1e9, pattern: '^(a+)+$' }],
    ['asks for many numbers', { properties: wide(9_000, { type: 'number', minimum: -1.234567890123456e-300 }) }],
    ['has a property named __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as object],
  ])('may bring a schema that %s: the answer has at most 10,000 values and 1 MB', async (_what, schema) => {
    const content = await askFor({ type: 'json_schema', json_schema: { schema } });
    expect(Buffer.byteLength(content)).toBeLessThan(2 ** 20);
    expect(valuesIn(JSON.parse(content))).toBeLessThanOrEqual(10_000);
  });

  it('have the message in as many strings as there is room for', async () => {
    const schema = { properties: wide(20, { type: 'string' }) };
    const message = 'x'.repeat(200_000);
    const { content } = await ask(message, {
      provider: { response_format: { type: 'json_schema', json_schema: { schema } } },
    });
    const strings = Object.values(JSON.parse(content) as Record<string, string>);
    expect(strings.map(({ length }) => length > 0)).toEqual([
      ...Array<boolean>(4).fill(true),
      ...Array<boolean>(16).fill(false),
    ]);
  });

  it('are cut in the depth, not in the width', async () => {
    const schema = { properties: wide(200, { $ref: '#' }) };
    const answer = JSON.parse(await askFor({ type: 'json_schema', json_schema: { schema } })) as object;
    expect(Object.keys(answer)).toHaveLength(200);
  });

  it('must not demand a value of an empty enum', async () => {
    for (const schema of [{ enum: [] }, { properties: { a: { enum: [] } } }]) {
      const asked = askFor({ type: 'json_schema', json_schema: { schema } });
      await expect(asked).rejects.toMatchObject({ code: 'provider-rejected-request' });
    }
  });

  it.each([
    ['said', 'You '],
    [['nowhere', ':'], 'You said'],
    [['', 7, null], 'You said: Hi'],
    [null, 'You said: Hi'],
  ])('end the answer before a stop sequence: %j', async (stop, content) => {
    expect(await ask('Hi', { provider: { stop } })).toMatchObject({ content, finishReason: 'stop' });
  });
});
