/** MCP servers behind an address: the SDK's own server, and raw ones for what it would not do. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ToolEvent } from '../../engines/contract/index.ts';
import { freePort } from '../support/free-port.ts';
import { startProxy } from '../support/proxy.ts';
import { until } from '../support/processes.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { back, down, offering, openConnected, openTools, run } from './mcp-support.ts';

interface HttpServer {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  readonly sockets: ReadonlySet<Socket>;
  /** The latest call's: the client's GET, which waits for news, may come at any time after it has connected. */
  lastPost(): IncomingMessage;
  /** Resolves once the client waits for news, and the server knows. */
  hasListener(): Promise<void>;
  /** Ends it with all its connections. */
  stop(): Promise<void>;
}

async function listen(handle: RequestListener, port = 0): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const listeners: ServerResponse[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request);
    if (request.method === 'GET') listeners.push(response);
    handle(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await Promise.resolve();
  };
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    sockets,
    lastPost: () => requests.findLast(({ method }) => method === 'POST')!,
    hasListener: () => until('its news are waited for', () => listeners.some(({ headersSent }) => headersSent)),
    stop,
  };
}

interface RealServer extends HttpServer {
  /** How many sessions there are. */
  readonly sessions: ReadonlyMap<string, StreamableHTTPServerTransport>;
  /** Calls of `wait` whose end the server knows of. */
  readonly cancelled: unknown[];
  /** Answers everything with this status from now on. */
  refuse(status: number | undefined): void;
  /** Adds a tool, which the server announces. */
  grow(): void;
  /** Has it been started again, it answers requests of its old sessions with this status. */
  restart(status: number): void;
}

/** What server-everything says. */
const noSession = 'Bad Request: No valid session ID provided';

/** The SDK's server, with sessions. */
async function realServer(port = 0): Promise<RealServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const cancelled: unknown[] = [];
  const servers: McpServer[] = [];
  let refusal: number | undefined;
  let forgotten = 404;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = request.method === 'POST' ? await json(request) : undefined;
    if (refusal !== undefined) return void response.writeHead(refusal).end('no');
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known) return known.handleRequest(request, response, body);
    if ((body as { method?: string } | undefined)?.method !== 'initialize')
      return void response.writeHead(forgotten).end(JSON.stringify({ error: { message: noSession } }));
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new McpServer({ name: 'real', version: '1' });
    servers.push(server);
    server.registerTool('add', { description: 'adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }));
    server.registerTool('wait', { description: 'waits' }, async ({ signal, sendNotification, _meta }) => {
      const progressToken = _meta?.progressToken ?? 0;
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      await once(signal, 'abort');
      cancelled.push(signal.reason);
      return { content: [] };
    });
    await server.connect(transport);
    return transport.handleRequest(request, response, body);
  };
  const http = await listen((request, response) => void handle(request, response), port);
  const grow = () => {
    for (const server of servers) server.registerTool('grown', {}, () => ({ content: [] }));
  };
  const restart = (status: number) => {
    forgotten = status;
    sessions.clear();
  };
  return { ...http, sessions, cancelled, grow, restart, refuse: (status) => void (refusal = status) };
}

describe('a server over streamable HTTP', () => {
  it('offers tools, responds and reports progress; every request has the configured headers', async () => {
    const server = await realServer();
    const headers = { authorization: 'Bearer hush-hush', 'x-team': 'voice' };
    const open = await openConnected({ real: { url: server.url, headers } });
    expect([...(await open.offered()).keys()]).toEqual(['real__add', 'real__wait']);
    expect(await run(open, 'real__add', { a: 2, b: 40 })).toBe('42');
    await server.hasListener();
    for (const request of server.requests) expect(request.headers).toMatchObject(headers);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['POST', 'GET']));
    expect(JSON.stringify(open.log)).not.toContain('hush');
  });

  it('is reached through the proxy from the environment', async () => {
    const server = await realServer();
    const proxy = await startProxy(Number(new URL(server.url).port));
    const open = await openConnected({ real: { url: 'http://provider.test/mcp' } }, { env: { HTTP_PROXY: proxy.url } });
    expect(await run(open, 'real__add', { a: 2, b: 40 })).toBe('42');
    expect(new Set(proxy.requests.map(({ line }) => line))).toContain('POST http://provider.test/mcp');
    const caller = new AbortController();
    const events: ToolEvent[] = [];
    const outcome = run(open, 'real__wait', {}, { signal: caller.signal, events }).catch((error: unknown) => error);
    await until('it is busy', () => events.length > 0);
    caller.abort(new Error('the caller has disconnected'));
    expect(await outcome).toBe(caller.signal.reason);
    await until('the server knows of it', () => server.cancelled.length === 1);
  });

  it('is notified of a cancellation, and the connection of the call is closed', async () => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } });
    const caller = new AbortController();
    const events: ToolEvent[] = [];
    const outcome = run(open, 'real__wait', {}, { signal: caller.signal, events }).catch((error: unknown) => error);
    await until('it is busy', () => events.length > 0);
    expect(events).toEqual([{ type: 'progress', progress: 1, total: 2 }]);
    const call = server.lastPost();
    const sinceLeft = startStopwatch();
    caller.abort(new Error('the caller has disconnected'));
    expect(await outcome).toBe(caller.signal.reason);
    await until('the connection is gone', () => call.socket.destroyed);
    expect(sinceLeft()).toBeLessThan(250);
    await until('the server knows of it', () => server.cancelled.length === 1);
    expect(await run(open, 'real__add', { a: 1, b: 1 })).toBe('2');
  });

  it('closes the connection when a call times out', async () => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url, timeout: 0.3 } });
    await expect(run(open, 'real__wait')).rejects.toMatchObject({ code: 'engine-timeout' });
    await until('the server knows of it', () => server.cancelled.length === 1);
    expect(open.said(down)).toEqual([]);
  });

  it('is listed again when its tools change', async () => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } });
    await server.hasListener();
    server.grow();
    await expect.poll(async () => [...(await open.offered()).keys()]).toContain('real__grown');
  });

  it('keeps the tool list of the new connection when that of the old one arrives late', async () => {
    const session = {
      sessions: 0,
      news: undefined as ServerResponse | undefined,
      late: undefined as (() => void) | undefined,
    };
    const lists = [['old'], ['a', 'b', 'c'], ['new'], ['new', 'newer']];
    const changed = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\n`;
    const server = await listen((request, response) => {
      void (async () => {
        if (request.method === 'DELETE') return; // the end of a session may take its time
        if (request.method === 'GET') {
          session.news = response.writeHead(200, { 'content-type': 'text/event-stream' });
          return response.flushHeaders();
        }
        const { id, method, params } = (await json(request)) as { id?: number; method: string; params: object };
        const answer = (result: object) =>
          void response
            .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': String(session.sessions) })
            .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        if (method === 'initialize') {
          session.sessions += 1;
          const capabilities = { tools: { listChanged: true } };
          return answer({ ...params, capabilities, serverInfo: { name: 'slow', version: '1' } });
        }
        if (method === 'tools/call') return void response.writeHead(404).end();
        if (method !== 'tools/list') return void response.writeHead(202).end();
        const tools = (lists.shift() ?? []).map((name) => ({ name, inputSchema: { type: 'object' } }));
        if (tools.length === 3) session.late = () => answer({ tools });
        else answer({ tools });
      })();
    });
    const open = await openConnected({ slow: { url: server.url } }, { backOffMs: 0 });
    await server.hasListener();
    session.news!.write(changed);
    await until('the list is asked for', () => session.late !== undefined);
    await expect(run(open, 'slow__old')).rejects.toThrow('failed during the call');
    await offering(open, 'slow__new');
    await until(
      'the new connection waits for news',
      () => server.requests.filter(({ method }) => method === 'GET').length === 2,
    );
    session.late!();
    session.news!.write(changed);
    await offering(open, 'slow__newer');
    expect(open.said('the tools of the MCP server have changed')).toMatchObject([{ tools: 2 }]);
  });

  it('has no session and no connection left at the end', async () => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } });
    expect(server.sessions.size).toBe(1);
    await open.mcp[Symbol.asyncDispose]();
    expect(server.sessions.size).toBe(0);
    await until('all connections are closed', () => server.sockets.size === 0, 250);
  });

  it('fails the call when it is down, logs that once, and recovers', async () => {
    const port = await freePort();
    const first = await realServer(port);
    const open = await openConnected({ real: { url: first.url } }, { backOffMs: 0 });
    const tool = (await open.offered()).get('real__add')!;
    const call = { signal: new AbortController().signal, emit: () => {} };
    await first.stop();
    await expect(tool.run({ a: 1, b: 1 }, call)).rejects.toThrow('The tool server real failed during the call.');
    expect((await open.offered()).size).toBe(0);
    expect(open.said(down)).toHaveLength(1);
    await realServer(port);
    await offering(open, 'real__add');
    expect((await open.offered()).size).toBe(2);
    expect(open.said(back)).toHaveLength(1);
    expect(await tool.run({ a: 1, b: 1 }, call)).toBe('2');
  });

  it('fails the call at once when its connection breaks', async () => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } });
    const events: ToolEvent[] = [];
    const outcome = run(open, 'real__wait', {}, { events }).catch((error: unknown) => error);
    await until('it is busy', () => events.length > 0);
    const sinceBroken = startStopwatch();
    server.lastPost().socket.destroy();
    expect(await outcome).toMatchObject({
      code: 'engine-failed',
      message: expect.stringContaining('closed the connection') as string,
    });
    expect(sinceBroken()).toBeLessThan(1_000);
  });

  it.each([503, 400])('stays connected when it rejects a call with %i', async (status) => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } });
    server.refuse(status);
    await expect(run(open, 'real__add', { a: 1, b: 1 })).rejects.toThrow('failed during the call');
    server.refuse(undefined);
    expect(await run(open, 'real__add', { a: 1, b: 1 })).toBe('2');
    expect(open.said(down)).toEqual([]);
    expect(open.said('the MCP server rejected a call')).toMatchObject([{ level: 40, mcp: 'real', status }]);
  });

  it.each([404, 400])('is reconnected when it has lost the session (%i)', async (status) => {
    const server = await realServer();
    const open = await openConnected({ real: { url: server.url } }, { backOffMs: 0 });
    server.restart(status);
    await expect(run(open, 'real__add', { a: 1, b: 1 })).rejects.toThrow('failed during the call');
    await offering(open, 'real__add');
    expect(await run(open, 'real__add', { a: 1, b: 1 })).toBe('2');
  });
});

describe('a misbehaving server', () => {
  const trouble = async (handle: RequestListener, path = '') => {
    const server = await listen(handle);
    const open = openTools({ bad: { url: `${server.url}${path}`, headers: { authorization: 'Bearer hush-hush' } } });
    await until('it is told', () => open.said(down).length === 1);
    return { server, open, reason: String(open.said(down)[0]!.reason) };
  };

  it('does not redirect to other origins, so that headers do not leak', async () => {
    const thief = await listen((_request, response) => void response.end());
    const { reason } = await trouble(
      (_request, response) => void response.writeHead(307, { location: thief.url }).end(),
    );
    expect(thief.requests).toEqual([]);
    expect(reason).toContain('not followed');
  });

  it.each([
    ['refuses the key', 401, 'text/plain', 'your key hush-hush is wrong', '401'],
    ['is no MCP server', 404, 'text/html', '<h1>Not found</h1>', 'Not found'],
    ['answers with a page', 200, 'text/html', '<h1>Hello</h1>', 'content'],
    ['answers with half a JSON', 200, 'application/json', '{"jsonrpc": ', 'JSON'],
    ['answers with another JSON', 200, 'application/json', '{"hello": 1}', ''],
  ])('is down when it %s', async (_what, status, type, body, says) => {
    const answer: RequestListener = (_request, response) =>
      void response.writeHead(status, { 'content-type': type }).end(body);
    const { reason, open } = await trouble(answer);
    expect(reason).toContain(says);
    expect(reason.length).toBeLessThanOrEqual(500);
    expect(JSON.stringify(open.log)).not.toContain('hush');
  });

  it.each([
    ['a body without end', 'application/json'],
    ['an event without end', 'text/event-stream'],
  ])('is down when it sends %s, and is read no further', async (_what, type) => {
    const before = process.memoryUsage().rss;
    let sent = 0;
    const { server, reason } = await trouble((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      const chunk = Buffer.alloc(1 << 16, 'data: "x');
      const pour = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    expect(reason).not.toBe('');
    await until('the connection is gone', () => server.sockets.size === 0);
    expect(sent).toBeLessThan(64e6);
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6);
  });

  it('may close under a slow reader without crashing the process (undici, issue 5360)', async () => {
    const { reason } = await trouble((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
      response.write(': hello\n\n', () => response.socket?.destroy());
    });
    expect(reason).not.toBe('');
  });
});
