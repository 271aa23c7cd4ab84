/** A service whose OpenAI-compatible API the real SDK calls. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../chat/support/script.ts';
import { key } from '../../engines/llm-agent/support.ts';
import { openProvider, type Behavior, type RawProvider } from '../../support/provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';

export const question = [{ role: 'user', content: 'What is the capital of France?' }] as const;

export interface ChatService {
  readonly service: TestService;
  /** Behind the model `remote`. */
  readonly provider: RawProvider;
  /** The SDK, without retries. */
  readonly openai: OpenAI;
}

export interface ChatServiceOptions extends Omit<TestServiceOptions, 'config' | 'files'> {
  /** YAML beside `engines`. */
  readonly settings?: string;
}

/** Ends with the test. */
export async function startChatService(
  behaviors: Behavior | readonly Behavior[],
  options?: ChatServiceOptions,
): Promise<ChatService> {
  const chatService = await openChatService(behaviors, options);
  onTestFinished(() => chatService[Symbol.asyncDispose]());
  return chatService;
}

/**
 * Serves the models `remote`, the default, by llm-agent with this provider; `scripted`, whose script is the last
 * message; and those of the sandbox.
 */
export async function openChatService(
  behaviors: Behavior | readonly Behavior[],
  { settings = '', ...options }: ChatServiceOptions = {},
): Promise<ChatService & AsyncDisposable> {
  const provider = await openProvider();
  provider.behave(...[behaviors].flat());
  const cloud = `{ use: llm-agent, baseUrl: "${provider.baseUrl}", apiKey: "${key}", models: [remote] }`;
  const config = `engines: { cloud: ${cloud}, scripted: { use: ./scripted.mjs }, sandbox: { use: sandbox } }\n${settings}`;
  const service = await startTestService({ ...scripted, ...options, config });
  return {
    service,
    provider,
    openai: createOpenAI(service.url),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

export function createOpenAI(url: string, options: { readonly maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-any', maxRetries: 0, ...options });
}

export interface Mcp {
  /** For `mcpServers`. */
  readonly settings: string;
  /** Arguments of the calls of its tool `calc__add`. */
  readonly calls: readonly unknown[];
}

/** An MCP server in this process, with a single tool. */
export async function startMcp(): Promise<Mcp> {
  const calls: unknown[] = [];
  const http = createServer((request, response) => {
    void (async () => {
      const server = new McpServer({ name: 'calc', version: '1' });
      const inputSchema = { a: z.number(), b: z.number() };
      server.registerTool('add', { description: 'adds', inputSchema }, ({ a, b }) => {
        calls.push({ a, b });
        return { content: [{ type: 'text', text: String(a + b) }] };
      });
      const transport = new StreamableHTTPServerTransport({});
      await server.connect(transport);
      await transport.handleRequest(request, response, request.method === 'POST' ? await json(request) : undefined);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  return { settings: `mcpServers: { calc: { url: "http://127.0.0.1:${port}/mcp" } }`, calls };
}
