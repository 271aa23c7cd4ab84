/** Trace ids: in every log line of a request, at providers and MCP servers, and in the spans of a tracer. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApi } from '../support/http.ts';
import { startMcpServer } from '../support/mcp-server.ts';
import { answers, startProvider, type ProviderCall } from '../support/provider.ts';
import { startTestService, type LogLine, type TestService, type TestServiceOptions } from '../support/service.ts';
import { startTracer } from '../support/tracer.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType, recording } from './support/forms.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const tracestate = 'vendor=secret';

async function start(options: TestServiceOptions): Promise<TestService> {
  const service = await startTestService(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

/** The lines of the request of a trace, once it has ended. */
async function linesOf({ log }: TestService, trace: string): Promise<LogLine[]> {
  const lines = () => log.filter(({ trace_id }) => trace_id === trace);
  await eventually(() => lines().some(({ msg }) => msg === 'request')).toBe(true);
  return lines();
}

const chat = { messages: [{ role: 'user', content: 'Hello' }] };
const completion = { choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] };
const calling = {
  choices: [
    {
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'least__ask', arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
};

/** A service with a provider of chats and an MCP server. */
async function startWithPeers() {
  const [provider, mcp] = [await startProvider(), await startMcpServer()];
  provider.behave(answers(200, completion));
  const config = `
    engines: { cloud: { use: llm-agent, baseUrl: "${provider.baseUrl}", models: [mind] } }
    mcpServers: { least: { url: "${mcp.url}" } }`;
  const service = await start({ config });
  await eventually(() => service.log.some(({ msg }) => msg === 'the MCP server is connected')).toBe(true);
  const ask = (headers: Record<string, string> = {}) => createApi(service.url).post('/api/v1/chat', chat, headers);
  return { service, provider, mcp, ask };
}

const headersOf = ({ headers }: Pick<ProviderCall, 'headers'>) => ({
  traceparent: headers.traceparent,
  tracestate: headers.tracestate,
});

describe('the trace of a caller', () => {
  it('is in the log and goes to the provider and the MCP server, with a span of our own', async () => {
    const { service, provider, mcp, ask } = await startWithPeers();
    provider.behave(answers(200, calling), answers(200, completion));
    mcp.answer(() => ({ status: 500 }));
    const { headers } = await ask({ traceparent, tracestate });
    const lines = await linesOf(service, traceId);
    const spanId = String(lines[0]?.span_id);
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    const id = headers.get('x-request-id');
    for (const line of lines) expect(line).toMatchObject({ id, span_id: spanId });
    expect(lines).toContainEqual(expect.objectContaining({ mcp: 'least', msg: 'the MCP server rejected a call' }));
    const sent = { traceparent: `00-${traceId}-${spanId}-01`, tracestate };
    expect(provider.calls.map(headersOf)).toEqual([sent, sent]);
    expect(mcp.requests.at(-1)).toMatchObject({ method: 'tools/call', headers: sent });
    for (const { headers } of mcp.requests.slice(0, -1)) expect(headers.traceparent).toBeUndefined();
  });

  it.each([`${traceparent}-more`, traceparent.toUpperCase(), `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'x'])(
    'is replaced when it is malformed: %s',
    async (malformed) => {
      const { service, provider, ask } = await startWithPeers();
      const { headers } = await ask({ traceparent: malformed, tracestate });
      const own = headers.get('x-request-id')!.replaceAll('-', '');
      const [line] = await linesOf(service, own);
      const sent = { traceparent: `00-${own}-${String(line?.span_id)}-00`, tracestate: undefined };
      expect(provider.calls.map(headersOf)).toEqual([sent]);
      expect(JSON.stringify(service.log)).not.toContain(malformed + '"');
    },
  );

  it('does not become the request id, nor does a request id of the caller', async () => {
    const { service, ask } = await startWithPeers();
    const { headers } = await ask({ traceparent, 'x-request-id': 'forged' });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-/);
    await linesOf(service, traceId);
    expect(JSON.stringify(service.log)).not.toContain('forged');
  });
});

it('tracestate stays on this machine', async () => {
  const files = {
    'own.mjs': `export default {
      contract: 1, name: 'own', capability: 'chat', options: { type: 'object', properties: {} },
      create: (_options, { providerHeaders }) => ({
        models: [{ id: 'mind', local: false }],
        async *complete() {
          yield { type: 'step-started', step: 0 };
          const urls = ['http://localhost:1/', 'http://[::1]/', 'https://api.example/', 'http://127.0.0.1.example/', undefined];
          const content = JSON.stringify(urls.map((url) => 'tracestate' in providerHeaders(url)));
          yield { type: 'content-delta', step: 0, delta: content };
          yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
        },
      }),
    };`,
  };
  const service = await start({ config: 'engines: { own: { use: ./own.mjs } }', files });
  const { body } = await createApi(service.url).post('/api/v1/chat', chat, { traceparent, tracestate });
  expect(body).toMatchObject({ content: '[true,true,false,false,false]' });
});

/** Engines that log wherever their code runs. The first transcription in German or French waits for others to queue. */
const talkative = {
  config: 'engines: { talkative: { use: ./talkative.mjs } }',
  files: {
    'talkative.mjs': `
const wait = () => new Promise((resolve) => setTimeout(resolve, 1));
const engine = (capability, create) => ({
  contract: 1, name: 'talkative', capability, options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [{ id: capability, local: true, voices: [{ id: 'v', name: 'V', language: null }] }],
    ...create(context, (where) => context.log.info({}, where)),
  }),
});
export default [
  engine('chat', (_context, say) => ({
    async *complete(_call, { signal }) {
      signal.addEventListener('abort', () => say('chat aborted'));
      say('chat called');
      yield { type: 'step-started', step: 0 };
      for (const delta of ['a', 'b', 'c']) {
        await wait();
        say('chat continues');
        yield { type: 'content-delta', step: 0, delta };
      }
      say('chat ends');
      yield { type: 'completed', result: { content: 'abc', finishReason: 'stop', reasoning: null, usage: null } };
    },
  })),
  engine('speech', (_context, say) => ({
    async synthesize() {
      say('speech called');
      const audio = async function* () {
        for (let i = 0; i < 3; i += 1) {
          await wait();
          say('speech continues');
          yield new Uint8Array(100_000);
        }
        say('speech ends');
      };
      return { mediaType: 'audio/mpeg', audio: audio() };
    },
  })),
  engine('transcription', ({ queue }, say) => {
    const line = queue({ slots: 1, waiting: 8 });
    const waiting = new Set();
    return {
      async transcribe(call, { signal }) {
        const others = { de: 1, fr: 3 }[call.language] ?? 0;
        const listener = { signal, onQueued: () => { say('queued'); waiting.add(call); } };
        return line.run(async () => {
          say('job begins');
          while (waiting.size < others) await wait();
          say('job ends');
          return { text: 'fine', language: null };
        }, listener);
      },
    };
  }),
];`,
  },
};

describe('code of an engine runs in the scope of its request', () => {
  const said = (lines: readonly LogLine[]) =>
    lines.filter(({ engine }) => engine === 'talkative').map(({ msg }) => msg);
  const untraced = ({ log }: TestService) =>
    log.filter(({ engine, trace_id }) => engine !== undefined && trace_id === undefined);

  it.each(['/api/v1/chat', '/api/v1/chat/stream', '/v1/chat/completions'])('chats: %s', async (path) => {
    const service = await start(talkative);
    await createApi(service.url).post(path, { ...chat, model: 'chat' }, { traceparent });
    const continues = ['chat continues', 'chat continues', 'chat continues'];
    expect(said(await linesOf(service, traceId))).toEqual(['chat called', ...continues, 'chat ends']);
    expect(untraced(service)).toEqual([]);
  });

  it('chats whose caller disconnects', async () => {
    const service = await start(talkative);
    const leaving = new AbortController();
    const asked = service.post('/chat/stream', chat, { signal: leaving.signal, headers: { traceparent } });
    await (await asked).body!.getReader().read();
    leaving.abort();
    const lines = await linesOf(service, traceId);
    expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
    expect(said(lines)).toContain('chat aborted');
    expect(untraced(service)).toEqual([]);
  });

  it.each(['/tts', '/tts/clips'])('speech: %s', async (path) => {
    const service = await start(talkative);
    const answer = await service.post(path, { text: 'Hello.' }, { headers: { traceparent } });
    expect(answer.ok).toBe(true);
    await answer.bytes();
    await eventually(() => service.log.some(({ msg }) => msg === 'speech ends')).toBe(true);
    const continues = ['speech continues', 'speech continues', 'speech continues'];
    expect(said(await linesOf(service, traceId))).toEqual(['speech called', ...continues, 'speech ends']);
    expect(untraced(service)).toEqual([]);
  });

  it('jobs of a queue, each in its own', async () => {
    const service = await start(talkative);
    const ids = Array.from({ length: 4 }, (_, i) => traceId.replace(/.$/, String(i)));
    await Promise.all(
      ids.map((id) =>
        createApi(service.url).send('POST', '/api/v1/transcribe', {
          headers: { ...multipartType, traceparent: traceparent.replace(traceId, id) },
          body: multipart(recording, { name: 'language', value: 'fr' }),
        }),
      ),
    );
    const spoken = await Promise.all(ids.map(async (id) => said(await linesOf(service, id))));
    for (const lines of spoken) expect(lines.filter((line) => line !== 'queued')).toEqual(['job begins', 'job ends']);
    // The last one is told of its place three times and of its turn; the first one of nothing.
    expect(spoken.map((lines) => lines.length - 2).toSorted((a, b) => a - b)).toEqual([0, 2, 3, 4]);
    expect(untraced(service)).toEqual([]);
  });
});

describe('a tracer', () => {
  it('gets the spans of a chat with tools, and decides what is sampled', async () => {
    const { service, provider, mcp, ask } = await startWithPeers();
    const { spans } = startTracer();
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    provider.behave(answers(200, calling), answers(200, { ...completion, usage }));
    const { headers } = await ask();
    const own = headers.get('x-request-id')!.replaceAll('-', '');
    await linesOf(service, own);
    const result = { 'gen_ai.response.finish_reasons': ['stop'] };
    expect(spans.map(({ kind, name, attributes }) => ({ kind, name, attributes }))).toEqual([
      {
        kind: 'internal',
        name: 'execute_tool least__ask',
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'least__ask' },
      },
      {
        kind: 'client',
        name: 'chat mind',
        attributes: expect.objectContaining({
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'cloud',
          'gen_ai.request.model': 'mind',
          ...result,
        }) as object,
      },
      {
        kind: 'server',
        name: 'POST /api/v1/chat',
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/api/v1/chat',
          'http.response.status_code': 200,
        },
      },
    ]);
    expect(new Set(spans.map(({ trace }) => trace.traceId))).toEqual(new Set([own]));
    for (const { headers } of [...provider.calls, mcp.requests.at(-1)!]) expect(headers.traceparent).toMatch(/-01$/);
  });

  it('gets the class of a failure, and no message', async () => {
    const { service, provider, ask } = await startWithPeers();
    const { spans } = startTracer();
    provider.behave(answers(429, { error: { message: 'Hello is too much.' } }));
    await ask({ traceparent });
    await linesOf(service, traceId);
    expect(spans.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['chat mind', 'provider-rate-limited'],
      ['POST /api/v1/chat', undefined],
    ]);
    expect(JSON.stringify(spans)).not.toContain('Hello');
  });

  it('gets waiting in a queue', async () => {
    const service = await start(talkative);
    const { spans } = startTracer();
    const call = { headers: multipartType, body: multipart(recording, { name: 'language', value: 'de' }) };
    const transcribe = () => createApi(service.url).send('POST', '/api/v1/transcribe', call);
    await Promise.all([transcribe(), transcribe()]);
    await eventually(() => spans.filter(({ kind }) => kind === 'server').length).toBe(2);
    expect(spans.filter(({ kind }) => kind !== 'server').map(({ name }) => name)).toEqual(['queue wait']);
  });

  it('gets none of probes', async () => {
    const service = await start(talkative);
    const { spans } = startTracer();
    await createApi(service.url).get('/healthz');
    await createApi(service.url).get('/openapi.json');
    await eventually(() => spans.map(({ name }) => name)).toEqual(['GET']);
  });
});
