/** Deviations of providers from /chat/completions. */
import { describe, expect, test } from 'vitest';
import { answers, type ProviderCall } from '../../support/provider.ts';
import { calls, chunk, says, sends, sentTo, startAgent, streams, tool, usageChunk, weather } from './support.ts';

const echo = tool('echo', (args) => JSON.stringify(args));
const call = (part: object) => chunk({ tool_calls: [part] });
const fn = (name: string, args?: unknown) => ({ function: { name, arguments: args } });

interface Variety {
  readonly name: string;
  readonly chunks: readonly object[];
  readonly args: readonly object[];
  /** Default: generated ids for calls without one. */
  readonly ids?: readonly string[];
}

const varieties: readonly Variety[] = [
  {
    name: 'in pieces (OpenAI)',
    chunks: [
      call({ index: 0, id: 'a', type: 'function', ...fn('echo', '') }),
      call({ index: 0, function: { arguments: '{"n":' } }),
      call({ index: 0, function: { arguments: '1}' } }),
      call({ index: 1, id: 'b', type: 'function', ...fn('echo', '') }),
      call({ index: 1, function: { arguments: '{"n":2}' } }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'interleaved pieces',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n"') }),
      call({ index: 1, id: 'b', ...fn('echo', '{"n"') }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({ index: 1, function: { arguments: ':2}' } }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'all in one chunk',
    chunks: [
      chunk({
        tool_calls: [
          { index: 0, id: 'a', ...fn('echo', '{"n":1}') },
          { index: 1, id: 'b', ...fn('echo', '{"n":2}') },
        ],
      }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'complete calls, without index',
    chunks: [call({ id: 'a', ...fn('echo', '{"n":1}') }), call({ id: 'b', ...fn('echo', '{"n":2}') })],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'complete calls, all with index 0',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 0, id: 'b', ...fn('echo', '{"n":2}') }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'complete calls, without index and id',
    chunks: [call(fn('echo', '{"n":1}')), call(fn('echo', '{"n":2}'))],
    args: [{ n: 1 }, { n: 2 }],
  },
  {
    name: 'complete calls at index 0, without id',
    chunks: [call({ index: 0, ...fn('echo', '{"n":1}') }), call({ index: 0, ...fn('echo', '{"n":2}') })],
    args: [{ n: 1 }, { n: 2 }],
  },
  {
    name: 'in pieces without index and id',
    chunks: [call(fn('echo', '{"n"')), call({ function: { arguments: ':1}' } })],
    args: [{ n: 1 }],
  },
  {
    name: 'pieces that repeat id and name',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n"') }),
      call({ index: 0, id: 'a', ...fn('echo', ':1}') }),
      call({ index: 0, id: 'a', ...fn('echo', '') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'one id for all calls',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 1, id: 'a', ...fn('echo', '{"n":2}') }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'call00001'],
  },
  {
    name: 'one call twice',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'one call twice, then as encoded JSON',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 0, id: 'a', ...fn('echo', '"{\\"n\\":1}"') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'one call twice, without index, after another call',
    chunks: [
      call({ id: 'a', ...fn('echo', '{"n":1}') }),
      call({ id: 'b', ...fn('echo', '{"n":2}') }),
      call({ id: 'a', ...fn('echo', '{"n":1}') }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'one call twice, after another call with the same index',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 0, id: 'b', ...fn('echo', '{"n":2}') }),
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
    ],
    args: [{ n: 1 }, { n: 2 }],
    ids: ['a', 'b'],
  },
  {
    name: 'a line break after the arguments',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
      call({ index: 0, id: 'a', ...fn('echo', '\n') }),
      call({ index: 0, function: { arguments: '\n' } }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'a line break after the arguments, without index and id',
    chunks: [call(fn('echo', '{"n":1}')), call(fn('echo', '\n'))],
    args: [{ n: 1 }],
  },
  {
    name: 'an empty part first',
    chunks: [
      call({ index: 0, type: 'function', function: { arguments: '' } }),
      call({ index: 0, id: 'a', ...fn('echo', '{"n":1}') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'an empty part first and last, without index',
    chunks: [call({ type: 'function' }), call({ id: 'a', ...fn('echo', '{"n":1}') }), call({ function: {} })],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'the id before the name',
    chunks: [call({ index: 0, id: 'a', ...fn('', '') }), call({ index: 0, ...fn('echo', '{"n":1}') })],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'arguments before the name and the id',
    chunks: [call({ index: 0, function: { arguments: '{"n"' } }), call({ index: 0, id: 'a', ...fn('echo', ':1}') })],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'arguments as an object',
    chunks: [call({ index: 0, id: 'a', ...fn('echo', { n: 1 }) })],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'the name in pieces',
    chunks: [
      call({ index: 0, id: 'a', ...fn('ec') }),
      call({ index: 0, ...fn('ho', '') }),
      call({ index: 0, ...fn('', '{"n":1}') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'the name in pieces, with the id in each part',
    chunks: [
      call({ index: 0, id: 'a', ...fn('e') }),
      call({ index: 0, id: 'a', ...fn('ch') }),
      call({ index: 0, id: 'a', ...fn('o', '{"n":1}') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  {
    name: 'the name in pieces, without index and id, of two calls',
    chunks: [call(fn('ec', '')), call(fn('ho', '{"n":1}')), call(fn('ec', '')), call(fn('ho', '{"n":2}'))],
    args: [{ n: 1 }, { n: 2 }],
  },
  {
    name: 'the name with each part, before the arguments, too',
    chunks: [
      call({ index: 0, id: 'a', ...fn('echo', '') }),
      call({ index: 0, ...fn('echo', '') }),
      call({ index: 0, ...fn('echo', '{"n":1}') }),
    ],
    args: [{ n: 1 }],
    ids: ['a'],
  },
  { name: 'without arguments', chunks: [call({ index: 0, id: 'a', ...fn('echo') })], args: [{}], ids: ['a'] },
  { name: 'empty arguments', chunks: [call({ index: 0, id: 'a', ...fn('echo', '') })], args: [{}], ids: ['a'] },
];

describe('tool calls', () => {
  test.each(varieties)('are parsed: $name', async ({ chunks, args, ids }) => {
    const { run, provider } = await startAgent([streams(...chunks, chunk({}, 'tool_calls')), says('Done.')]);
    const events = await run({ tools: [echo] });
    const started = events.filter((event) => event.type === 'tool-started');
    expect(started.map((event) => event.arguments)).toEqual(args);
    const messages = (await sentTo(provider))[1]!.messages as {
      tool_calls: { id: string; function: { arguments: string } }[];
      tool_call_id: string;
      content: string;
    }[];
    const used = messages[1]!.tool_calls.map(({ id }) => id);
    // An empty string is not JSON, and Ollama rejects it in a history.
    expect(messages[1]!.tool_calls.map((made) => JSON.parse(made.function.arguments) as object)).toEqual(args);
    expect(used).toEqual(ids ?? args.map((_, index) => `call0000${index + 1}`));
    expect(messages.slice(2).map(({ tool_call_id, content }) => [tool_call_id, JSON.parse(content) as object])).toEqual(
      args.map((arg, index) => [used[index], arg]),
    );
  });

  test('are sent back with their extra fields (Gemini rejects calls without their signature)', async () => {
    const signature = { extra_content: { google: { thought_signature: 'abc' } } };
    const { run, provider } = await startAgent([
      streams(
        call({ id: 'a', ...fn('echo', '{"n":1}'), ...signature }),
        call({ id: 'b', ...fn('echo', '{"n":2}') }),
        chunk({}, 'stop'),
      ),
      says('Done.'),
    ]);
    await run({ tools: [echo] });
    const { messages } = (await sentTo(provider))[1] as { messages: { tool_calls: object[] }[] };
    expect(messages[1]!.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'echo', arguments: '{"n":1}' }, ...signature },
      { id: 'b', type: 'function', function: { name: 'echo', arguments: '{"n":2}' } },
    ]);
  });

  test('have distinct ids in every round', async () => {
    const again = streams(call(fn('echo', '{}')), chunk({}, 'tool_calls'));
    const { ask, provider } = await startAgent([again, again, says('Done.')]);
    await ask({ tools: [echo] });
    const text = JSON.stringify((await sentTo(provider))[2]);
    expect(text).toContain('call00001');
    expect(text).toContain('call00002');
  });
});

describe('a stream', () => {
  const text = 'Grüße, 世界 👋';
  const body = Buffer.from(`data: ${JSON.stringify(chunk({ content: text }, 'stop'))}\n\ndata: [DONE]\n\n`);

  test('may be split anywhere, even within a character', async () => {
    const { ask } = await startAgent(sends(...Array.from(body, (byte) => Buffer.from([byte]))));
    expect((await ask()).content).toBe(text);
  });

  test.each([
    ['CRLF', `data: ${JSON.stringify(chunk({ content: 'Hi.' }, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n`],
    ['a byte order mark', `\ufeffdata: ${JSON.stringify(chunk({ content: 'Hi.' }, 'stop'))}\n\n`],
    ['comments', `: OPENROUTER PROCESSING\n\n${body.toString().replace(text, 'Hi.')}: bye\n\n`],
    ['no space after the colon', `data:${JSON.stringify(chunk({ content: 'Hi.' }, 'stop'))}\n\ndata:[DONE]\n\n`],
    ['empty data', `data:\n\n${body.toString().replace(text, 'Hi.')}`],
    [
      'chunks without choices',
      `data: {"choices":[],"prompt_filter_results":[]}\n\n${body.toString().replace(text, 'Hi.')}`,
    ],
    [
      'no blank line at its end',
      body
        .toString()
        .replace(text, 'Hi.')
        .replace(/\n\ndata: \[DONE\]\n\n$/, ''),
    ],
    ['one line end between events', body.toString().replace(text, 'Hi.').replaceAll('\n\n', '\n')],
    ['error: null in every chunk', body.toString().replace(text, 'Hi.').replace('{', '{"error":null,')],
  ])('may have %s', async (_name, sent) => {
    const { ask } = await startAgent(sends(sent));
    expect((await ask()).content).toBe('Hi.');
  });

  test('is not read beyond [DONE]', async () => {
    const { ask } = await startAgent(sends(`${body.toString()}data: {"choices":[{"delta":{"content":"more"}}]}\n\n`));
    expect((await ask()).content).toBe(text);
  });
});

test.each([
  ['in a stream', streams(choices([1, 'One.', null]), choices([1, ' More.', 'length'], [0, 'Zero.', 'stop']))],
  ['without streaming', answers(200, choices([1, 'One.', 'length'], [0, 'Zero.', 'stop'], [2, 'Two.', 'length']))],
])('only the choice with the index 0 is the answer, %s', async (_how, behavior) => {
  const { ask } = await startAgent(behavior);
  expect(await ask()).toMatchObject({ content: 'Zero.', finishReason: 'stop' });
});

function choices(...list: readonly (readonly [index: number, content: string, finish: string | null])[]): object {
  const all = list.map(([index, content, finish_reason]) => ({
    ...{ index, delta: { content }, message: { content } },
    finish_reason,
  }));
  return { id: 'chatcmpl-1', choices: all };
}

test('content may be a list of text and thinking parts (Mistral)', async () => {
  const { ask } = await startAgent(
    streams(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Hi' }] }),
      chunk({ content: '.' }),
      chunk({}, 'stop'),
    ),
  );
  expect(await ask()).toMatchObject({ content: 'Hi.', reasoning: 'Hm.' });
});

describe('a response without streaming', () => {
  test('is equivalent to a stream', async () => {
    const message = { role: 'assistant', content: 'Paris.', reasoning: 'Hm.' };
    const { run } = await startAgent(
      answers(200, { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: usageChunk(4, 2).usage }),
    );
    expect((await run()).slice(1)).toEqual([
      { type: 'reasoning-delta', step: 0, delta: 'Hm.' },
      { type: 'content-delta', step: 0, delta: 'Paris.' },
      {
        type: 'completed',
        result: {
          ...{ content: 'Paris.', finishReason: 'stop', reasoning: 'Hm.' },
          usage: { promptTokens: 4, completionTokens: 2, totalTokens: 6, reasoningTokens: 0 },
        },
      },
    ]);
  });

  test('may call tools', async () => {
    const message = {
      content: null,
      tool_calls: [
        { id: 'a', ...fn('echo', '{"n":1}') },
        { id: 'b', ...fn('echo', '{"n":2}') },
      ],
    };
    const { run } = await startAgent([
      answers(200, { choices: [{ message, finish_reason: 'tool_calls' }] }),
      says('Done.'),
    ]);
    const finished = (await run({ tools: [echo] })).filter((event) => event.type === 'tool-finished');
    expect(finished.map(({ output }) => output)).toEqual(['{"n":1}', '{"n":2}']);
  });
});

describe('a field that the provider rejects', () => {
  const refuses = (message: string, param: string | null = null, code: string | null = null, status = 400) =>
    answers(status, { error: { message, type: 'invalid_request_error', param, code } });
  const openai = refuses(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ...(['max_tokens', 'unsupported_parameter'] as const),
  );

  test('max_tokens is replaced by max_completion_tokens, also in later requests', async () => {
    const { ask, provider } = await startAgent([openai, says('Hi.')]);
    expect((await ask({ maxTokens: 7 })).content).toBe('Hi.');
    await ask({ maxTokens: 8 });
    const limits = (await sentTo(provider)).map(({ max_tokens, max_completion_tokens }) => ({
      max_tokens,
      max_completion_tokens,
    }));
    expect(limits).toEqual([{ max_tokens: 7 }, { max_completion_tokens: 7 }, { max_completion_tokens: 8 }]);
  });

  test('max_completion_tokens is replaced by max_tokens (Mistral)', async () => {
    const detail = [
      { type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs are not permitted' },
    ];
    const { ask, provider } = await startAgent([answers(422, { detail }), says('Hi.')], {
      maxTokensParam: 'max_completion_tokens',
    });
    await ask({ maxTokens: 7 });
    expect((await sentTo(provider)).map(({ max_tokens }) => max_tokens)).toEqual([undefined, 7]);
  });

  test('is not retried forever', async () => {
    const other = refuses(
      "Unsupported parameter: 'max_completion_tokens'",
      'max_completion_tokens',
      'unsupported_parameter',
    );
    const { ask, provider } = await startAgent([openai, other]);
    await expect(ask({ maxTokens: 7 })).rejects.toMatchObject({ code: 'provider-rejected-request' });
    expect(provider.calls).toHaveLength(2);
    await expect(ask({ maxTokens: 7 })).rejects.toThrow();
    expect((await sentTo(provider))[2]).toHaveProperty('max_tokens'); // what did not work is not remembered
  });

  test('a max_tokens that is too large is an error of the client', async () => {
    const { ask, provider } = await startAgent(
      refuses('max_tokens is too large: 9. This model supports at most 8.', 'max_tokens'),
    );
    await expect(ask({ maxTokens: 9 })).rejects.toMatchObject({ code: 'provider-rejected-request' });
    expect(provider.calls).toHaveLength(1);
  });

  test('stream_options is omitted from then on', async () => {
    const { ask, provider } = await startAgent([refuses('stream_options: extra fields not permitted'), says('Hi.')]);
    await ask();
    await ask();
    expect((await sentTo(provider)).map((sent) => 'stream_options' in sent)).toEqual([true, false, false]);
  });

  test('stays omitted when an older run is answered later', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const late = async (call: ProviderCall) => {
      await released;
      await says('Late.')(call);
    };
    const { ask, provider } = await startAgent([late, openai, says('Hi.')]);
    const before = ask();
    await expect.poll(() => provider.calls.length).toBe(1);
    await ask({ maxTokens: 7 });
    release(undefined);
    expect((await before).content).toBe('Late.');
    await ask({ maxTokens: 8 });
    expect((await sentTo(provider)).slice(3)).toMatchObject([{ max_completion_tokens: 8 }]);
  });

  test.each([
    ['Ollama', 400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    ['vLLM', 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    ['llama.cpp', 500, 'tools param requires --jinja flag'],
    ['an older llama.cpp', 500, 'Unsupported param: tools'],
    ['OpenRouter', 404, 'No endpoints found that support tool use. To learn more, visit: https://openrouter.ai/docs'],
    ['Groq', 400, '`tool calling` is not supported with this model'],
    ['OpenAI', 400, 'tools is not supported in this model.'],
    ['OpenAI, in /chat/completions', 400, 'Function tools with reasoning_effort are not supported for gpt-9.'],
    ['Azure', 400, 'Unrecognized request argument supplied: tools'],
    ['Bedrock', 400, "This model doesn't support tool use in streaming mode."],
  ])('tools are omitted from then on for %s, with a warning in the log', async (_who, status, message) => {
    const { ask, provider, log } = await startAgent([refuses(message, null, null, status), says('Hi.')], {
      maxSteps: 1,
    });
    expect((await ask({ tools: [weather] })).content).toBe('Hi.');
    await ask({ tools: [weather] });
    const sent = await sentTo(provider);
    expect(sent.map((body) => ['tools' in body, 'tool_choice' in body])).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ]);
    expect(log.filter(({ level }) => level === 'warn')).toMatchObject([
      { facts: { model: 'remote' }, message: 'the model does not support tools; they are left out' },
    ]);
  });

  test.each([
    ['one of them', 400, "Invalid schema for function 'weather': 'default' is not supported"],
    ['a field of one of them', 400, "Unknown parameter: 'tools[0].function.strict'"],
    ['tool_choice', 400, "This model does not support tool_choice 'none'"],
    ['their number', 400, 'Parallel tool calls are not supported'],
    ['a rate', 429, 'The free tier does not support tools'],
  ])('tools are kept when it rejects %s', async (_what, status, message) => {
    const { ask, provider } = await startAgent(refuses(message, null, null, status));
    await expect(ask({ tools: [weather] })).rejects.toMatchObject({ name: 'EngineError' });
    expect(provider.calls).toHaveLength(1);
  });

  test('tools are kept when the error may only quote the conversation', async () => {
    const content = 'Why is it that gemma does not support tools?';
    const echoed = { loc: ['body', 'messages'], msg: 'Field required', input: { content } };
    const { ask, provider } = await startAgent([
      answers(422, { detail: [echoed] }),
      refuses(`no answer to: ${content}`),
    ]);
    for (const input of ['Hello', content]) {
      const run = ask({ tools: [weather], messages: [{ role: 'user', content: input }] });
      await expect(run).rejects.toMatchObject({ code: 'provider-rejected-request' });
    }
    expect(provider.calls).toHaveLength(2);
  });

  test('is remembered per model', async () => {
    const { ask, provider } = await startAgent([openai, says('Hi.')], { models: ['one', 'two'] });
    await ask({ model: 'one', maxTokens: 7 });
    await ask({ model: 'two', maxTokens: 7 });
    expect((await sentTo(provider)).at(-1)).toMatchObject({ model: 'two', max_tokens: 7 });
  });
});

describe('the options', () => {
  test('drop fields and add headers', async () => {
    const { ask, provider } = await startAgent(says('Hi.'), {
      dropParams: ['stream_options', 'temperature', 'tools'],
      headers: { 'x-title': 'parlance' },
      maxSteps: 1,
    });
    await ask({ temperature: 1, topP: 0.5, tools: [weather] });
    expect(Object.keys((await sentTo(provider))[0]!)).toEqual(['model', 'stream', 'top_p', 'messages']);
    expect(provider.calls[0]!.headers).toMatchObject({ 'x-title': 'parlance' });
  });

  test('may be overridden per model', async () => {
    const models = [
      'plain',
      { id: 'own', remoteId: 'vendor/own', name: 'My own', maxTokensParam: 'max_completion_tokens', dropParams: [] },
    ];
    const agent = await startAgent(says('Hi.'), { models, dropParams: ['temperature'] });
    for (const model of ['plain', 'own']) await agent.ask({ model, temperature: 1, maxTokens: 7 });
    const [plain, own] = await sentTo(agent.provider);
    expect(plain).toMatchObject({ model: 'plain', max_tokens: 7 });
    expect(plain).not.toHaveProperty('temperature');
    expect(own).toMatchObject({ model: 'vendor/own', temperature: 1, max_completion_tokens: 7 });
    expect(agent.models().map(({ id, entry }) => [id, entry.name])).toEqual([
      ['plain', undefined],
      ['own', 'My own'],
    ]);
  });

  test.each([
    [{ dropParams: ['model'] }, /dropParams/],
    [{ maxSteps: 0 }, /maxSteps/],
    [{ api: 'completions' }, /chat, responses|chat.*responses/],
    [{ modells: [] }, /modelFilter|models/],
    [{ models: ['a', 'a'] }, /unique/],
  ])('%j makes startup fail', async (options, message) => {
    await expect(startAgent(calls(), options)).rejects.toThrow(message);
  });
});
