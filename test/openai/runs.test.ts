/** What chat completions and responses have in common: how a run ends, fails and is left, and whose tools it has. */
import OpenAI, { NotFoundError, type APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import { chatOf, content, stepStarted, toolFinished, toolStarted, type Script } from '../chat/support/script.ts';
import { calls, chunk, says, sentTo, stallsAfter } from '../engines/llm-agent/support.ts';
import { createOpenAI, question, startChatService, startMcp } from './support/chat.ts';

interface RunApi {
  readonly name: string;
  readonly path: string;
  readonly ask: object;
  readonly ofScript: (script: Script) => object;
  readonly create: (openai: OpenAI, body: object, signal?: AbortSignal) => Promise<unknown>;
  /** The text of the answer, which has no calls of tools. */
  readonly run: (openai: OpenAI, body: object, stream: boolean) => Promise<string>;
  /** Whether this event of a stream has the first text. */
  readonly hasText: (event: unknown) => boolean;
  /** A stream until its first heartbeat. */
  readonly begin: RegExp;
}

const apis: readonly RunApi[] = [
  {
    name: 'a chat completion',
    path: '/v1/chat/completions',
    ask: { model: 'remote', messages: question },
    ofScript: (script) => ({ ...chatOf(script), model: 'scripted' }),
    create: (openai, body, signal) => openai.chat.completions.create(body as never, signal && { signal }),
    run: async (openai, body, stream) => {
      const { choices } = stream
        ? await openai.chat.completions.stream(body as never).finalChatCompletion()
        : await openai.chat.completions.create(body as never);
      expect(choices).toMatchObject([{ finish_reason: 'stop' }]);
      expect(choices[0]?.message.tool_calls ?? []).toEqual([]);
      return choices[0]?.message.content ?? '';
    },
    hasText: (event) => (event as OpenAI.ChatCompletionChunk).choices[0]?.delta.content === 'Pa',
    begin: /^data: .+\n\n: keep-alive\n\n$/,
  },
  {
    name: 'a response',
    path: '/v1/responses',
    ask: { model: 'remote', input: question[0].content },
    ofScript: (script) => ({ model: 'scripted', input: JSON.stringify(script) }),
    create: (openai, body, signal) => openai.responses.create(body as never, signal && { signal }),
    run: async (openai, body, stream) => {
      const { output, output_text: text } = stream
        ? await openai.responses.stream(body as never).finalResponse()
        : await openai.responses.create(body as never);
      expect(output).toMatchObject([{ type: 'message', status: 'completed' }]);
      return text;
    },
    hasText: (event) => (event as { type: string }).type === 'response.output_text.delta',
    begin: /^event: response\.created\ndata: .+\n\nevent: .+\ndata: .+\n\n: keep-alive\n\n$/,
  },
];

const failureOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error) as Promise<APIError>;

describe.each(apis)('$name', ({ path, ask, ofScript, create, run, hasText, begin }) => {
  it('whose client disconnects before the answer cancels the provider call', async () => {
    const { openai, provider } = await startChatService(stallsAfter(chunk({ content: 'Pa' })));
    const leaving = new AbortController();
    const asking = create(openai, ask, leaving.signal);
    await expect.poll(() => provider.calls).toHaveLength(1);
    leaving.abort();
    await expect(asking).rejects.toThrow(OpenAI.APIUserAbortError);
    await provider.calls[0]!.gone;
  });

  it('whose client disconnects from its stream cancels the provider call', async () => {
    const { openai, provider } = await startChatService(stallsAfter(chunk({ content: 'Pa' })));
    const stream = (await create(openai, { ...ask, stream: true })) as AsyncIterable<unknown>;
    for await (const event of stream) if (hasText(event)) break;
    await provider.calls[0]!.gone;
  });

  it('sends heartbeats while the provider is silent', async () => {
    const { service } = await startChatService(says(''), { heartbeatMs: 20, streamHoldMs: 1 });
    const leaving = new AbortController();
    const response = await fetch(service.url + path, {
      ...{ method: 'POST', signal: leaving.signal, headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ ...ofScript([stepStarted(0), { wait: 'signal' }]), stream: true }),
    });
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.endsWith(': keep-alive\n\n')) break;
    }
    leaving.abort();
    expect(text).toMatch(begin);
  });

  it('that fails before its first event has a status, for as long as a stream is held', async () => {
    const { openai } = await startChatService(says(''), { streamHoldMs: 60_000 });
    const script: Script = [stepStarted(0), { wait: 1 }, { fail: 'provider-rate-limited', retryAfter: 20 }];
    const error = await failureOf(create(openai, { ...ofScript(script), stream: true }));
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(error.headers?.get('retry-after')).toBe('20');
  });

  it.each<[string, Script]>([
    ['a tool has run', [toolStarted(0, 0), toolFinished(0, 0)]],
    ['the answer has begun', [content(0, 'Hi')]],
  ])('is not retried by the SDK once %s', async (_what, begun) => {
    const { service } = await startChatService(says(''));
    const openai = createOpenAI(service.url, { maxRetries: 2 });
    const error = await failureOf(
      create(openai, ofScript([stepStarted(0), ...begun, { fail: 'provider-overloaded' }])),
    );
    expect(error.status).toBe(503);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(service.log.filter(({ msg }) => msg === 'began')).toHaveLength(1);
  });

  it('of an unknown model is NotFoundError', async () => {
    const { openai, provider } = await startChatService(says('Hi.'));
    const error = await failureOf(create(openai, { ...ask, model: 'nosuch' }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model', requestID: expect.any(String) as string });
    expect(provider.calls).toHaveLength(0);
  });

  it.each([false, true])('runs the service’s tools, and does not show them; stream: %s', async (stream) => {
    const mcp = await startMcp();
    const adds = calls({ id: 'x', name: 'calc__add', args: '{"a":2,"b":40}' });
    const { openai, provider } = await startChatService([adds, says('It is 42.')], { settings: mcp.settings });
    expect(await run(openai, { ...ask, tools: [] }, stream)).toBe('It is 42.');
    expect(mcp.calls).toEqual([{ a: 2, b: 40 }]);
    const tools = (await sentTo(provider))[0]?.tools as { function: { name: string } }[];
    expect(tools.map((tool) => tool.function.name)).toEqual(['calc__add']); // read_aloud would be the first one
  });

  it.each([
    ['tool_choice is "none"', {}, { tool_choice: 'none' }],
    ['COMPAT_TOOLS is off', { env: { COMPAT_TOOLS: 'false' } }, {}],
  ])('has no tools of the service when %s', async (_when, options, fields) => {
    const mcp = await startMcp();
    const { openai, provider } = await startChatService(says('Hi.'), { settings: mcp.settings, ...options });
    await create(openai, { ...ask, ...fields });
    expect((await sentTo(provider))[0]).not.toHaveProperty('tools');
  });
});
