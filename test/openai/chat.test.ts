/** Chat completions through the OpenAI-compatible API, as the SDK sends and reads them. */
import OpenAI, { APIError, BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineErrorCode } from '../../engines/contract/index.ts';
import {
  chatOf,
  completed,
  content,
  hello,
  reasoning,
  stepStarted,
  toolFinished,
  toolStarted,
  type Script,
} from '../chat/support/script.ts';
import { chunk, says, sentTo, stallsAfter, streams, usageChunk } from '../engines/llm-agent/support.ts';
import { openChatService, question, startChatService, type ChatService } from './support/chat.ts';

const paris = streams(
  chunk({ reasoning: 'Hm.' }),
  chunk({ content: 'Paris.' }),
  chunk({}, 'stop'),
  usageChunk(14, 3, { reasoning_tokens: 1 }),
);

const usage = {
  ...{ prompt_tokens: 14, completion_tokens: 3, total_tokens: 17 },
  completion_tokens_details: { reasoning_tokens: 1 },
};

const ask = { model: 'remote', messages: [...question] };
const ofScript = (script: Script) => ({ ...chatOf(script), model: 'scripted' });

/** Number of runs of the model `scripted`. */
const runsOf = ({ service }: Pick<ChatService, 'service'>) => service.log.filter(({ msg }) => msg === 'began').length;

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('an answer', () => {
  it('is a completion with usage and reasoning; the headers name the request and the model', async () => {
    const { openai } = await startChatService(paris);
    const { data, response, request_id } = await openai.chat.completions.create(ask).withResponse();
    expect(data).toEqual({
      id: `chatcmpl-${request_id}`,
      object: 'chat.completion',
      created: expect.closeTo(Date.now() / 1000, -2) as number,
      model: 'remote',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Paris.', refusal: null, reasoning_content: 'Hm.' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage,
    });
    expect(response.headers.get('x-parlance-model')).toBe('remote');
    expect(response.headers.has('x-parlance-ignored')).toBe(false);
  });

  it('has a usage of zeros, and no reasoning, when the provider reports none', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const { choices, usage: none } = await openai.chat.completions.create(ask);
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'Hi.', refusal: null });
    expect(none).toEqual({
      ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });

  it.each([
    ['length', false],
    ['length', true],
    ['content_filter', false],
    ['content_filter', true],
  ])('may end with %s; stream: %s', async (reason, isStream) => {
    const { openai } = await startChatService(streams(chunk({ content: 'Pa' }), chunk({}, reason)));
    if (isStream) {
      const chunks = await listed(await openai.chat.completions.create({ ...ask, stream: true }));
      expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: reason }]);
    } else {
      const { choices } = await openai.chat.completions.create(ask);
      expect(choices[0]).toMatchObject({ finish_reason: reason, message: { content: 'Pa' } });
    }
  });

  it.each([[undefined], [null]])('comes from the default model if the model is %s', async (model) => {
    const { openai } = await startChatService(says('Hi.'));
    const { model: used } = await openai.chat.completions.create({ ...ask, model: model as never });
    expect(used).toBe('remote');
  });

  it('reads the same whole and in chunks, whatever the number of steps', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const script: Script = [
      ...[stepStarted(0), reasoning(0, 'Hm.'), content(0, 'Let me '), content(0, 'look.'), toolStarted(0, 0)],
      ...[toolFinished(0, 0), stepStarted(1), toolStarted(1, 0), toolFinished(1, 0), stepStarted(2)],
      ...[reasoning(2, 'Yes.'), content(2, ''), content(2, 'It is '), content(2, 'Paris.')],
      completed('It is Paris.', 'Hm.\n\nYes.'),
    ];
    const whole = await openai.chat.completions.create(ofScript(script));
    const message = whole.choices[0]?.message;
    expect(message).toMatchObject({ content: 'Let me look.\n\nIt is Paris.', reasoning_content: 'Hm.\n\nYes.' });
    expect(message).not.toHaveProperty('tool_calls');
    const streamed = openai.chat.completions.stream(ofScript(script));
    expect((await streamed.finalChatCompletion()).choices[0]?.message.content).toBe(message?.content);
    const chunks = await listed(await openai.chat.completions.create({ ...ofScript(script), stream: true }));
    const deltas = chunks.map(({ choices }) => choices[0]?.delta as { reasoning_content?: string });
    expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('Hm.\n\nYes.');
  });
});

describe('a stream', () => {
  it('has a role, deltas, a finish reason, and the end', async () => {
    const { service } = await startChatService(paris);
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...ask,
        stream: true,
        stream_options: { include_usage: true, include_obfuscation: true },
      }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-parlance-model')).toBe('remote');
    const text = await response.text();
    expect(text).toMatch(/^(data: .+\n\n)+$/);
    const lines = text
      .trim()
      .split('\n\n')
      .map((line) => line.slice('data: '.length));
    expect(lines.pop()).toBe('[DONE]');
    const chunks = lines.map((line) => JSON.parse(line) as OpenAI.ChatCompletionChunk);
    const head = {
      id: `chatcmpl-${String(response.headers.get('x-request-id'))}`,
      object: 'chat.completion.chunk',
      created: chunks[0]?.created,
      model: 'remote',
    };
    const delta = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason }],
    });
    expect(chunks).toEqual([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm.' }),
      delta({ content: 'Paris.' }),
      delta({}, 'stop'),
      { ...head, choices: [], usage },
    ]);
  });

  it('has no chunk without choices unless usage is asked for', async () => {
    const { openai } = await startChatService(paris);
    const chunks = await listed(await openai.chat.completions.create({ ...ask, stream: true }));
    expect(chunks.map(({ choices }) => choices.length)).toEqual(chunks.map(() => 1));
    expect(chunks.some((one) => 'usage' in one)).toBe(false);
  });
});

describe('a failure', () => {
  it('after the first chunk is thrown while the stream is read', async () => {
    const { openai } = await startChatService(says(''));
    const stream = await openai.chat.completions.create({
      ...ofScript([stepStarted(0), content(0, 'Hi'), { fail: 'provider-overloaded' }]),
      stream: true,
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { choices } of stream) seen.push(choices[0]?.delta.content);
    })();
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'provider_overloaded', type: 'server_error', param: null });
    expect(seen).toEqual(['', 'Hi']);
  });

  it('ends its stream without [DONE]', async () => {
    const { service } = await startChatService(says(''));
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...ofScript([stepStarted(0), content(0, 'Hi'), { crash: 'a private fact' }]),
        stream: true,
      }),
    });
    const last = (await response.text()).trim().split('\n\n').at(-1);
    expect(JSON.parse(last!.slice('data: '.length))).toEqual({
      error: {
        message: expect.not.stringContaining('private') as string,
        ...{ type: 'server_error', param: null, code: 'engine_failed' },
      },
    });
  });

  it('once a stream is no longer held is thrown while the stream is read', async () => {
    const { openai } = await startChatService(says(''), { streamHoldMs: 1 });
    const script: Script = [stepStarted(0), { wait: 200 }, { fail: 'provider-error' }];
    const stream = await openai.chat.completions.create({ ...ofScript(script), stream: true });
    await expect(listed(stream)).rejects.toMatchObject({ code: 'provider_error' });
  });

  it('at shutdown ends the stream with an error', async () => {
    const { openai, service } = await startChatService(stallsAfter(chunk({ content: 'Pa' })));
    const stream = await openai.chat.completions.create({ ...ask, stream: true });
    let stopped: Promise<void> | undefined;
    const reading = (async () => {
      for await (const { choices } of stream) if (choices[0]?.delta.content) stopped ??= service.service.stop(0);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'shutting_down' });
    await stopped;
  });

  it('of a model of another kind is BadRequestError', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const error: unknown = await openai.chat.completions
      .create({ ...ask, model: 'sandbox-speech' })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      param: 'model',
      message: expect.stringContaining('sandbox-speech is not a chat model') as string,
    });
  });
});

describe('a failure of the engine', () => {
  let chatService: Awaited<ReturnType<typeof openChatService>>;
  beforeAll(async () => void (chatService = await openChatService(says(''))));
  afterAll(() => chatService[Symbol.asyncDispose]());

  it.each<[EngineErrorCode, number, string, string]>([
    ['context-length-exceeded', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['content-rejected', 400, 'invalid_request_error', 'content_policy_violation'],
    ['provider-rejected-request', 400, 'invalid_request_error', 'provider_rejected_request'],
    ['provider-quota-exhausted', 429, 'insufficient_quota', 'insufficient_quota'],
    ['provider-rate-limited', 429, 'rate_limit_error', 'rate_limit_exceeded'],
    ['engine-failed', 500, 'server_error', 'engine_failed'],
    ['provider-auth-failed', 502, 'server_error', 'provider_auth_failed'],
    ['overloaded', 503, 'server_error', 'overloaded'],
    ['engine-timeout', 504, 'server_error', 'engine_timeout'],
  ])('has a status: %s', async (fail, status, type, code) => {
    const { openai, service } = chatService;
    for (const stream of [false, true]) {
      const script: Script = [stepStarted(0), { fail, message: 'It failed, for once.' }];
      const asking = openai.chat.completions.create({ ...ofScript(script), stream });
      const error = (await asking.catch((thrown: unknown) => thrown)) as APIError;
      expect(error).toMatchObject({ status, type, code, param: null });
      expect(error.message).toBe(`${status} It failed, for once.`);
    }
    expect(JSON.stringify(service.log)).not.toContain('step-started'); // the text of the user
  });

  it('is known before the run: a model that is not available', async () => {
    const before = runsOf(chatService);
    const asking = chatService.openai.chat.completions.create({ ...ofScript(hello), model: 'offline' });
    await expect(asking).rejects.toMatchObject({ status: 503, code: 'model_unavailable' });
    expect(runsOf(chatService)).toBe(before);
  });
});

describe('a retry by the SDK', () => {
  it('does not follow a shutdown in an answer that has begun', async () => {
    const { service, openai } = await startChatService(says(''));
    const script: Script = [stepStarted(0), content(0, 'Hi'), { wait: 'signal' }];
    const failing = openai.chat.completions.create(ofScript(script)).catch((e: unknown) => e);
    await expect.poll(() => runsOf({ service })).toBe(1);
    await service.service.stop(0);
    const error = (await failing) as APIError;
    expect(error).toMatchObject({ status: 503, code: 'shutting_down' });
    expect(error.headers?.get('x-should-retry')).toBe('false');
  });
});

describe('fields of the request', () => {
  it('reach the provider', async () => {
    const { openai, provider } = await startChatService(says('Hi.'));
    const fields = {
      ...{ temperature: 0, top_p: 0.5, stop: ['.'], seed: 1, reasoning_effort: 'low' as const },
      response_format: { type: 'json_object' as const },
    };
    await openai.chat.completions.create({
      model: 'remote',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
          name: 'Ada',
        },
      ],
      ...fields,
      max_completion_tokens: 100_000,
    });
    const [sent] = await sentTo(provider);
    expect(sent).toMatchObject({
      ...fields,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a\nb' },
      ],
      max_tokens: 100_000,
    });
  });

  it('without an effect are named in a header', async () => {
    const { openai } = await startChatService(says('Hi.'));
    const { response } = await openai.chat.completions
      .create({ ...ofScript(hello), seed: 1, user: 'ada', store: false, unheard_of: 1 } as never)
      .withResponse();
    expect(response.headers.get('x-parlance-ignored')).toBe('seed, user, store');
  });

  it('may be as large as the limits allow', async () => {
    const { openai, provider } = await startChatService(says('Hi.'));
    const most = '🎈'.repeat(500);
    const messages = Array.from({ length: 2_000 }, () => ({ role: 'user', content: most }) as const);
    const parameters = { type: 'object', description: 'x'.repeat(1_000_000) };
    const tools = [{ type: 'function', function: { name: 'a', parameters } }] as const;
    const { choices } = await openai.chat.completions.create({ ...ask, messages, tools: [...tools] });
    expect(choices[0]?.message.content).toBe('Hi.');
    expect(provider.calls[0]!.received).toBeGreaterThan(4_000_000);
  });
});

describe('a refusal', () => {
  let chatService: Awaited<ReturnType<typeof openChatService>>;
  beforeAll(async () => void (chatService = await openChatService(says('Hi.'))));
  afterAll(() => chatService[Symbol.asyncDispose]());

  const user = { role: 'user', content: 'Hi' };
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };

  it.each<[object, string, string]>([
    [{ messages: [] }, 'messages', 'invalid_request'],
    [{ messages: Array.from({ length: 2_001 }, () => user) }, 'messages', 'invalid_request'],
    [{ messages: [{ ...user, content: 'x'.repeat(1_000_001) }] }, 'messages', 'invalid_request'],
    [{ messages: [{ ...user, role: 'robot' }] }, 'messages[0].role', 'invalid_request'],
    [{ messages: [{ ...user, content: 5 }] }, 'messages[0].content', 'invalid_request'],
    [
      { messages: [{ ...user, content: [{ type: 'text', text: 5 }] }] },
      'messages[0].content[0].text',
      'invalid_request',
    ],
    [
      { messages: [user, user, { role: 'user', content: [{ type: 'text', text: 'a' }, sound] }] },
      'messages[2].content[1]',
      'unsupported_value',
    ],
    [{ messages: [user, { role: 'function', name: 'a', content: '1' }] }, 'messages[1].role', 'unsupported_parameter'],
    [
      { messages: [user, { role: 'tool', tool_call_id: 'a', content: '1' }] },
      'messages[1].tool_call_id',
      'invalid_request',
    ],
    [{ functions: [{ name: 'a' }] }, 'functions', 'unsupported_parameter'],
    [{ function_call: { name: 'a' } }, 'function_call', 'unsupported_parameter'],
    [{ n: 2 }, 'n', 'unsupported_parameter'],
    [{ logprobs: true }, 'logprobs', 'unsupported_parameter'],
    [{ modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
    [{ audio: { voice: 'alloy', format: 'mp3' } }, 'audio', 'unsupported_parameter'],
    [{ web_search_options: {} }, 'web_search_options', 'unsupported_parameter'],
    [{ prediction: { type: 'content', content: '' } }, 'prediction', 'unsupported_parameter'],
    [{ tools: [{ type: 'mcp' }] }, 'tools[0].type', 'unsupported_value'],
    [{ tool_choice: 'required' }, 'tool_choice', 'unsupported_parameter'],
    [{ temperature: 3 }, 'temperature', 'invalid_request'],
    [{ max_tokens: 0 }, 'max_tokens', 'invalid_request'],
    [{ max_tokens: 2 ** 31 }, 'max_tokens', 'invalid_request'],
    [{ model: 'scripted', stop: 'x' }, 'stop', 'unsupported_parameter'],
    [{ model: 'scripted', response_format: { type: 'json_object' } }, 'response_format', 'unsupported_parameter'],
    [{ model: 'scripted', tools: [{ type: 'function', function: { name: 'a' } }] }, 'tools', 'unsupported_parameter'],
  ])('names the field: %o', async (body, param, code) => {
    const { openai, provider } = chatService;
    const asking = openai.chat.completions.create({ ...ask, ...body } as never);
    const error = (await asking.catch((thrown: unknown) => thrown)) as APIError;
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param, code });
    expect(error.message).toContain(param);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(provider.calls).toHaveLength(0);
    expect(runsOf(chatService)).toBe(0);
  });
});
