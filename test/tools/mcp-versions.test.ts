/** MCP servers over HTTP with and without a handshake, which ended with protocol 2026-07-28. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/processes.ts';
import { connected, down, names, offering, openConnected, openTools, run } from './mcp-support.ts';

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string; readonly name?: string };
}

/** Answers with a result, a JSON-RPC error or an HTTP status; undefined: not at all, or the answer has begun. */
type Answer = { readonly result: object } | { readonly error: object } | { readonly status: number } | undefined;
type Answers = Readonly<Record<string, (message: Message, response: ServerResponse) => Answer>>;

const capabilities = { tools: { listChanged: true } };
const complete = (result: object) => ({
  result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result },
});
const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const toolList = (...tools: string[]) => ({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) });

function send(response: ServerResponse, message: object): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

function acknowledge({ id }: Message, response: ServerResponse): undefined {
  const params = { notifications: { toolsListChanged: true }, _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
  send(response, { method: 'notifications/subscriptions/acknowledged', params });
}

/** A server of protocol 2026-07-28. */
const withoutHandshake: Answers = {
  'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities }),
  'tools/list': () => complete(toolList('ask')),
  'tools/call': () => complete(text('without a handshake')),
  'subscriptions/listen': acknowledge,
};

/** A server of an earlier protocol. */
const withHandshake: Answers = {
  initialize: ({ params: { protocolVersion } }) => ({
    result: { protocolVersion, capabilities, serverInfo: { name: 'earlier', version: '1' } },
  }),
  'notifications/initialized': () => ({ status: 202 }),
  'tools/list': () => ({ result: toolList('ask') }),
  'tools/call': () => ({ result: text('after a handshake') }),
};

async function serve(answers: Answers) {
  const requests: (Message & Pick<IncomingMessage, 'headers' | 'socket'>)[] = [];
  let current = answers;
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = (await json(request)) as Message;
      requests.push({ ...message, headers: request.headers, socket: request.socket });
      const answer = current[message.method]?.(message, response);
      if (answer === undefined) return;
      if ('status' in answer) return void response.writeHead(answer.status).end('refused');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    settings: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, headers: { 'x-team': 'voice' } },
    requests,
    methods: () => requests.map(({ method }) => method),
    become: (next: Answers) => void (current = next),
  };
}

describe('a server without a handshake', () => {
  it('offers its tools and responds', async () => {
    const server = await serve(withoutHandshake);
    const open = await openConnected({ new: server.settings });
    expect(await run(open, 'new__ask')).toBe('without a handshake');
    await expect.poll(server.methods).toContain('subscriptions/listen');
    expect(server.methods()).not.toContain('initialize');
    for (const { headers, method } of server.requests) {
      expect(headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'x-team': 'voice' });
    }
  });

  it('reports progress, and the connection of a canceled call is closed', async () => {
    const server = await serve({
      ...withoutHandshake,
      'tools/call': ({ params }, response) => {
        const { progressToken } = (params as { _meta: { progressToken: number } })._meta;
        send(response, { method: 'notifications/progress', params: { progressToken, progress: 1 } });
        return undefined;
      },
    });
    const open = await openConnected({ new: server.settings });
    const caller = new AbortController();
    const events: never[] = [];
    const outcome = run(open, 'new__ask', {}, { signal: caller.signal, events }).catch((error: unknown) => error);
    await until('it is busy', () => events.length > 0);
    caller.abort(new Error('the caller has disconnected'));
    expect(await outcome).toBe(caller.signal.reason);
    const { socket } = server.requests.find(({ method }) => method === 'tools/call')!;
    await until('the connection is closed', () => socket.destroyed);
  });

  it('is listed again when its tools change, also after its notifications have ended', async () => {
    let tools = ['ask'];
    const streams: ServerResponse[] = [];
    const server = await serve({
      ...withoutHandshake,
      'tools/list': () => complete(toolList(...tools)),
      'subscriptions/listen': (message, response) => {
        streams.push(response);
        return acknowledge(message, response);
      },
    });
    const open = await openConnected({ new: server.settings }, { backOffMs: 0 });
    await until('it is asked for notifications', () => streams.length === 1);
    tools = ['ask', 'more'];
    const { id } = server.requests.find(({ method }) => method === 'subscriptions/listen')!;
    const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
    send(streams[0]!, { method: 'notifications/tools/list_changed', params });
    await offering(open, 'new__more');
    tools = ['ask', 'most'];
    streams[0]!.end();
    await offering(open, 'new__most');
    await until('it is asked for notifications again', () => streams.length === 2);
  });

  it('is connected with a handshake after an earlier version has replaced it', async () => {
    const server = await serve(withoutHandshake);
    const open = await openConnected({ server: server.settings }, { backOffMs: 0 });
    let isInitialized = false;
    server.become({
      ...withHandshake,
      'server/discover': () => ({ status: 404 }),
      initialize(message, response) {
        isInitialized = true;
        return withHandshake.initialize!(message, response);
      },
      'tools/call': () => (isInitialized ? { result: text('after a handshake') } : { status: 404 }),
    });
    await expect(run(open, 'server__ask')).rejects.toThrow('failed during the call');
    await offering(open, 'server__ask');
    expect(await run(open, 'server__ask')).toBe('after a handshake');
  });
});

describe('a server with a handshake', () => {
  it.each([
    ['404', { status: 404 }],
    ['202', { status: 202 }],
    ['400', { status: 400 }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['an unknown method', { error: { code: -32_601, message: 'Method not found' } }],
    ['other versions', { error: { code: -32_022, message: 'no', data: { supported: ['2025-11-25'] } } }],
    ['a result of another kind', { result: {} }],
  ] as const)('is connected when it answers the question for its versions with %s', async (_what, answer) => {
    const server = await serve({ ...withHandshake, 'server/discover': () => answer });
    const open = await openConnected({ old: server.settings });
    expect(await run(open, 'old__ask')).toBe('after a handshake');
    expect(open.said(/down/)).toEqual([]);
  });
});

describe('a server that does not respond', () => {
  // The limit is below the deadline of a connection, thirty seconds.
  it('to the question for its versions does not delay the end of the service', { timeout: 20_000 }, async () => {
    const server = await serve({});
    const open = openTools({ silent: server.settings });
    await until('it is asked', () => server.requests.length === 1);
    await open.mcp[Symbol.asyncDispose]();
    expect(open.said(connected)).toEqual([]);
    await until('its connection is closed', () => server.requests[0]!.socket.destroyed);
  });

  it('with success to any request is down with the reason of the handshake', async () => {
    const server = await serve({ 'server/discover': () => ({ status: 503 }), initialize: () => ({ status: 503 }) });
    const open = openTools({ broken: server.settings });
    await until('it is down', () => open.said(down).length === 1);
    expect(open.said(down)[0]!.reason).toContain('status 503');
    expect(await names(open)).toEqual([]);
  });
});
