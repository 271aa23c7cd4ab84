/** The least of an MCP server over HTTP, with one tool, `ask`. It ends with the test. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface McpRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: { readonly arguments?: unknown };
}

/** A JSON-RPC answer, or an HTTP status instead of one. */
export type McpAnswer = { readonly result: unknown } | { readonly error: object } | { readonly status: number };

export interface McpHttpServer {
  readonly url: string;
  readonly requests: readonly McpRequest[];
  /** How calls of the tool are answered from now on; at first with the text `answered`. */
  answer(answer: (request: McpRequest) => McpAnswer): void;
}

const tools = [{ name: 'ask', description: 'asks', inputSchema: { type: 'object' } }];

export async function startMcpServer(): Promise<McpHttpServer> {
  const requests: McpRequest[] = [];
  let toCall: (request: McpRequest) => McpAnswer = () => ({
    result: { content: [{ type: 'text', text: 'answered' }] },
  });

  function answerTo(request: McpRequest & { readonly params: { readonly protocolVersion?: string } }): McpAnswer {
    const { method, params } = request;
    if (method === 'tools/call') return toCall(request);
    if (method === 'tools/list') return { result: { tools } };
    if (method !== 'initialize') return { status: 202 };
    const { protocolVersion } = params;
    const serverInfo = { name: 'least', version: '1' };
    return { result: { protocolVersion, serverInfo, capabilities: { tools: {} } } };
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = (await json(incoming)) as McpRequest & { readonly id?: number };
    const request = { method, params, headers: incoming.headers };
    requests.push(request);
    const answer = answerTo(request);
    if ('status' in answer) return void response.writeHead(answer.status).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    answer: (answer) => void (toCall = answer),
  };
}
