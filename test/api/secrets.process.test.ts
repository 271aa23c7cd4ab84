/**
 * What callers, providers and tools send appears in no output of the service: random markers stand for each secret and
 * each text, and are looked for in everything that the process has written.
 */
import { hash } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { startMcpServer, type McpAnswer, type McpRequest } from '../support/mcp-server.ts';
import { resets, stalls, startProvider, type Behavior, type ProviderCall } from '../support/provider.ts';
import { toneWav } from '../support/tone-model.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType } from './support/forms.ts';

vi.setConfig({ testTimeout: 120_000 });

const marker = (what: string) => `${what}-${hash('sha256', what).slice(0, 16)}`;

const secrets = {
  key: marker('key'),
  wrongKey: marker('wrong-key'),
  providerKey: marker('sk'),
  mcpKey: marker('mcp-key'),
  header: marker('header'),
  query: marker('query'),
  chat: marker('chat'),
  answer: marker('answer'),
  toolArguments: marker('arguments'),
  toolOutput: marker('output'),
  speech: marker('speech'),
  fileName: marker('file'),
  prompt: marker('prompt'),
  transcript: marker('transcript'),
  model: marker('model'),
  broken: marker('broken'),
} as const;

// ------------------------------------------------------------------------------------------------------- the peers

const chatOf = (message: object, finish_reason = 'stop') => ({ choices: [{ message, finish_reason }] });
const said = chatOf({ role: 'assistant', content: secrets.answer });
const toolCall = {
  id: 'call',
  type: 'function',
  function: { name: 'least__ask', arguments: JSON.stringify({ question: secrets.toolArguments }) },
};
const calls = chatOf({ role: 'assistant', content: null, tool_calls: [toolCall] }, 'tool_calls');

/** An answer of each of the provider's kinds: to a chat, the first one of a run calls a tool. */
const succeeds: Behavior = async (call) => {
  const body = String(await call.body);
  if (call.path.endsWith('/transcriptions')) call.reply(200, { text: secrets.transcript });
  else if (call.path.endsWith('/speech')) call.reply(200, 'ID3'.padEnd(5_000, ' '), { 'content-type': 'audio/mpeg' });
  else if (!body.includes('"stream":true')) call.reply(200, body.includes('"role":"tool"') ? said : calls);
  else call.reply(200, streamOf(body.includes('"role":"tool"') ? said : calls), { 'content-type': eventStream });
};

const eventStream = 'text/event-stream';

function streamOf({ choices: [choice] }: ReturnType<typeof chatOf>): string {
  const { message, finish_reason } = choice!;
  const tool_calls = 'tool_calls' in message ? [{ index: 0, ...toolCall }] : undefined;
  const chunks = [
    { choices: [{ index: 0, delta: { ...message, ...(tool_calls && { tool_calls }) } }] },
    { choices: [{ index: 0, delta: {}, finish_reason }] },
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

const afterBody =
  (answer: (call: ProviderCall, body: string) => void): Behavior =>
  async (call) => {
    answer(call, String(await call.body));
  };

/** Each of these happens to every operation. */
const behaviors: Readonly<Record<string, Behavior>> = {
  succeeds,
  'repeats the request, as FastAPI does': afterBody((call, body) =>
    call.reply(422, { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', input: body }] }),
  ),
  'repeats the answer of the model, as Groq does': afterBody((call) =>
    call.reply(400, { error: { message: 'Failed to call a function.', failed_generation: secrets.answer } }),
  ),
  'repeats the key, as OpenAI does': afterBody((call) =>
    call.reply(401, { error: { message: `Incorrect API key provided: ${call.headers.authorization}.` } }),
  ),
  fails: afterBody((call) => call.reply(500, { error: { message: 'Internal server error' } })),
  'answers what is no JSON': afterBody((call) =>
    call.reply(200, `{"text": ${secrets.answer}`, { 'content-type': 'application/json' }),
  ),
  'streams what is no JSON': afterBody((call) =>
    call.reply(200, `data: {"choices": ${secrets.answer}\n\n`, { 'content-type': eventStream }),
  ),
  'breaks the connection': resets,
};

/** What the tool does, in turn. */
const toolAnswers: readonly ((request: McpRequest) => McpAnswer)[] = [
  () => ({ result: { content: [{ type: 'text', text: secrets.toolOutput }] } }),
  ({ params }) => ({ result: { isError: true, content: [{ type: 'text', text: JSON.stringify(params) }] } }),
  ({ params }) => ({ error: { code: -32_602, message: `Invalid arguments: ${JSON.stringify(params)}` } }),
  ({ params }) => ({ result: { content: JSON.stringify(params) } }),
  () => ({ status: 500 }),
];

// ---------------------------------------------------------------------------------------------------- the requests

interface Call {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const json = (path: string, value: unknown): Call => ({
  path: `${path}?q=${secrets.query}`,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const form = (path: string, model: string): Call => ({
  path: `${path}?q=${secrets.query}`,
  headers: multipartType,
  body: multipart(
    { name: 'model', value: model },
    ...(path.startsWith('/v1') ? [{ name: 'prompt', value: secrets.prompt }] : []),
    { name: 'file', value: toneWav({ words: ['alpha'], rate: 16_000 }), filename: `${secrets.fileName}.wav` },
  ),
});

const messages = [{ role: 'user', content: secrets.chat }];

/** Every operation that takes a text or a recording, in both APIs. */
const operations: readonly Call[] = [
  json('/api/v1/chat', { messages }),
  json('/api/v1/chat/stream', { messages }),
  json('/api/v1/tts', { text: secrets.speech, model: 'voice' }),
  json('/api/v1/tts/clips', { text: secrets.speech, model: 'voice' }),
  form('/api/v1/transcribe', 'ears'),
  form('/api/v1/transcribe/stream', 'ears'),
  json('/v1/chat/completions', { model: 'mind', messages }),
  json('/v1/chat/completions', { model: 'mind', messages, stream: true }),
  json('/v1/audio/speech', { model: 'voice', input: secrets.speech, voice: 'v' }),
  form('/v1/audio/transcriptions', 'ears'),
];

const chats = operations.filter(({ path }) => path.includes('/chat'));

/** Requests that never reach a provider. */
const refused: readonly Call[] = [
  { path: '/api/v1/models', headers: { authorization: `Bearer ${secrets.wrongKey}` } },
  { path: '/v1/models', headers: { authorization: `Bearer ${secrets.wrongKey}` } },
  { path: `/api/v1/transcribe?model=${secrets.model}` },
  { path: `/nothing?q=${secrets.query}` },
  ...['/api/v1', '/v1'].flatMap((root): Call[] => {
    const path = `${root}/chat${root === '/v1' ? '/completions' : ''}`;
    const type = { 'content-type': 'application/json' };
    return [
      json(path, { messages, model: secrets.model }),
      json(path, { messages: secrets.chat }),
      json(path, { messages: [{ role: secrets.chat, content: '' }], [secrets.chat]: 1 }),
      { path, headers: type, body: `{"messages": ${secrets.broken}` },
      { path, headers: type, body: secrets.broken },
      { path, headers: { 'content-type': `text/${secrets.header}` }, body: secrets.broken },
      { path, headers: { ...type, 'content-encoding': secrets.header }, body: secrets.broken },
      {
        path,
        method: 'OPTIONS',
        headers: { origin: `https://${secrets.header}`, 'access-control-request-method': 'POST' },
      },
    ];
  }),
  { path: '/api/v1/transcribe', headers: multipartType, body: Buffer.from(secrets.broken) },
  json('/api/v1/tts', { text: secrets.speech, voice_id: secrets.model }),
  json('/v1/audio/speech', { model: secrets.model, input: secrets.speech, voice: secrets.model }),
  form('/v1/audio/transcriptions', secrets.model),
];

const everyHeader = {
  'x-custom': secrets.header,
  'user-agent': secrets.header,
  'x-request-id': secrets.header,
  traceparent: secrets.header,
  tracestate: secrets.header,
  cookie: `session=${secrets.header}`,
  referer: `http://localhost/${secrets.header}`,
  prefer: secrets.header,
};

/** Resolves with the status; undefined when the caller has disconnected, which it does once `leaves` resolves. */
async function send(
  url: string,
  { path, body, headers, method }: Call,
  leaves?: Promise<unknown>,
): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const sending = request(url, {
    path,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${secrets.key}`, ...everyHeader, ...headers },
    agent: false,
  });
  sending.once('response', (response) => {
    response.resume().once('close', () => resolve(response.statusCode));
  });
  sending.once('error', () => resolve(undefined)).end(body);
  await leaves?.then(() => sending.destroy());
  return promise;
}

// -------------------------------------------------------------------------------------------------------- the test

/** What the service has written, by where. */
const sinks: Readonly<Record<string, (service: ChildService) => string | Promise<string>>> = {
  log: ({ said }) => said.stdout,
  terminal: ({ said }) => said.stderr,
  metrics: async ({ said }) => (await fetch(/Metrics +(http\S+)/.exec(said.stderr)?.[1] ?? '')).text(),
};

async function leaksOf(service: ChildService): Promise<string[]> {
  const outputs = await Promise.all(
    Object.entries(sinks).map(async ([sink, read]) => [sink, await read(service)] as const),
  );
  expect(outputs.find(([sink]) => sink === 'metrics')?.[1]).toContain('parlance_tool_calls_total{');
  return outputs.flatMap(([sink, output]) =>
    output
      .split('\n')
      .flatMap((line) =>
        Object.entries(secrets).flatMap(([name, secret]) =>
          line.includes(secret) ? [`${name} in the ${sink}: ${line}`] : [],
        ),
      ),
  );
}

async function startWithPeers(level: string) {
  const [provider, mcp] = [await startProvider(), await startMcpServer()];
  const cloud = `baseUrl: "${provider.baseUrl}", apiKey: ${secrets.providerKey}`;
  const service = await startChildService({
    env: { LOG_LEVEL: level, API_KEYS: secrets.key, METRICS_PORT: '0', NODE_ENV: 'production' },
    config: `
      engines:
        mind: { use: llm-agent, ${cloud}, models: [mind] }
        ears: { use: hosted-stt, ${cloud}, models: [ears] }
        voice: { use: tts, ${cloud}, models: [{ id: voice, voices: [v] }] }
      mcpServers: { least: { url: "${mcp.url}?key=${secrets.mcpKey}", headers: { x-key: ${secrets.mcpKey} } } }
      corsOrigins: [http://localhost:1]`,
  });
  await eventually(() => service.said.stdout).toContain('the MCP server is connected');
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return { provider, mcp, service };
}

const ends = ({ said }: ChildService) => said.stdout.split('"msg":"request"').length - 1;

describe('the output has no secret and no text of anybody', () => {
  it('whatever succeeds, fails or is aborted, at the level that has the lines of all the others', async () => {
    const { provider, mcp, service } = await startWithPeers('debug');
    const statuses: Record<string, (number | undefined)[]> = {};
    let asked = 0;
    for (const [name, behavior] of Object.entries(behaviors)) {
      provider.behave(behavior);
      statuses[name] = await Promise.all(operations.map((operation) => send(service.url, operation)));
      asked += operations.length;
    }
    provider.behave(succeeds);
    for (const answer of toolAnswers) {
      mcp.answer(answer);
      expect(await Promise.all(chats.map((chat) => send(service.url, chat)))).toEqual(chats.map(() => 200));
      asked += chats.length;
    }
    for (const operation of operations) {
      const reached = Promise.withResolvers<unknown>();
      provider.behave(() => reached.resolve(true), stalls);
      asked += 1;
      expect(await send(service.url, operation, reached.promise)).toBeUndefined();
    }
    for (const call of refused) {
      asked += 1;
      const status = await send(service.url, call);
      expect(status, JSON.stringify(call)).toBeGreaterThanOrEqual(call.path.includes('transcribe?') ? 200 : 400);
    }
    await eventually(() => ends(service)).toBe(asked);
    expect(await leaksOf(service)).toEqual([]);
    const { succeeds: fine, ...failures } = statuses;
    expect(fine).toEqual([200, 200, 200, 201, 200, 200, 200, 200, 200, 200]);
    for (const failed of Object.values(failures).flat()) expect(failed).toBeGreaterThanOrEqual(400);
    // The markers were where they belong.
    const bodies = (await Promise.all(provider.calls.map(({ body }) => body.catch(() => '')))).join('\n');
    for (const name of ['chat', 'speech', 'toolArguments', 'toolOutput', 'prompt'] as const)
      expect(bodies).toContain(secrets[name]);
    expect(provider.calls[0]?.headers.authorization).toBe(`Bearer ${secrets.providerKey}`);
    expect(mcp.requests[0]?.headers['x-key']).toBe(secrets.mcpKey);
  });
});
