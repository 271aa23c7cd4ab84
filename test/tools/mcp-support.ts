/** MCP servers for tests, real ones and scripted ones, and the tools that come of them. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Tool, ToolEvent } from '../../engines/contract/index.ts';
import { createLog } from '../../src/log.ts';
import type { McpServerSettings } from '../../src/settings/mcp-servers.ts';
import { createMcpTools, type McpTools } from '../../src/tools/mcp/index.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { until } from '../support/processes.ts';
import type { LogLine } from '../support/service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

const require = createRequire(import.meta.url);

/** A server from npm over stdio; `@modelcontextprotocol/server-<name>`. */
export function fromNpm(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): McpServerSettings {
  const main = require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  return { command: process.execPath, args: [main, ...args] };
}

/** What a scripted server begins with: it answers as it should, until its script says otherwise. */
const prelude = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = (name, more) => ({ name, description: 'does ' + name, inputSchema: { type: 'object' }, ...more });
const text = (words) => ({ content: [{ type: 'text', text: words }] });
let tools = [tool('one'), tool('two')];
const on = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'scripted', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ params }) => text(params.name + ' was called'),
};
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line);
    const result = await on[message.method]?.(message);
    if (result !== undefined) say({ id: message.id, result });
  });
`;

export interface ScriptedServer extends McpServerSettings {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A server of the test's own. Its script may use \`say(message)\`, \`tool(name)\`, \`text(words)\`, and change \`tools\`
 * and \`on[method]\`, whose answer is sent unless it is undefined.
 */
export async function scripted(script: string): Promise<ScriptedServer> {
  const directory = await temporaryDirectory();
  await writeFiles(directory, { 'server.mjs': prelude + script });
  return { command: process.execPath, args: [join(directory, 'server.mjs')] };
}

export interface OpenTools {
  readonly mcp: McpTools;
  readonly log: readonly LogLine[];
  /** The tools that a chat is offered now, by name. */
  offered(): Promise<ReadonlyMap<string, Tool>>;
  said(message: RegExp | string): LogLine[];
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly baseDir?: string;
  readonly backOffMs?: number;
}

/** Begins to connect; the servers end with the test. */
export function openTools(
  mcpServers: Readonly<Record<string, McpServerSettings>>,
  { env = {}, baseDir = '/', ...times }: Surroundings = {},
): OpenTools {
  const log: LogLine[] = [];
  const sink = { write: (line: string) => void log.push(JSON.parse(line) as LogLine) };
  const logger = createLog('debug', sink);
  const mcp = createMcpTools({
    settings: { mcpServers, baseDir },
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    log: logger,
    ...times,
  });
  const toolbox = createToolbox([mcp], logger);
  onTestFinished(() => toolbox[Symbol.asyncDispose]());
  mcp.connect();
  return {
    mcp,
    log,
    async offered() {
      const tools = await toolbox.toolsFor({ id: 'a-chat', signal: new AbortController().signal });
      return new Map(tools.map((tool) => [tool.name, tool]));
    },
    said: (message) => log.filter(({ msg }) => (typeof message === 'string' ? msg === message : message.test(msg))),
  };
}

export const connected = 'the MCP server is connected';
export const down = 'the MCP server is down: its tools are not offered';
export const back = 'the MCP server is back';

/** The same, once so many servers have answered. */
export async function openConnected(
  mcpServers: Readonly<Record<string, McpServerSettings>>,
  surroundings?: Surroundings,
): Promise<OpenTools> {
  const open = openTools(mcpServers, surroundings);
  const count = Object.keys(mcpServers).length;
  await until('all servers are connected', () => open.said(connected).length === count, 20_000);
  return open;
}

/** Resolves when a chat is offered this tool again: of a server that is just being connected it waits two seconds only. */
export async function offering(open: OpenTools, name: string): Promise<void> {
  await until(`${name} is offered`, async () => (await open.offered()).has(name), 20_000);
}

export interface Run {
  readonly signal?: AbortSignal;
  readonly events?: ToolEvent[];
}

/** Runs one of the tools as a chat does. */
export async function run(
  open: OpenTools,
  name: string,
  args: object = {},
  { signal, events }: Run = {},
): Promise<string> {
  const tool = (await open.offered()).get(name);
  if (!tool) throw new Error(`${name} is not offered: ${[...(await open.offered()).keys()].join(', ')}`);
  const call = { signal: signal ?? new AbortController().signal, emit: (event: ToolEvent) => void events?.push(event) };
  return tool.run(args as Record<string, unknown>, call);
}

/** A server that does nothing wrong. */
export const good = () => scripted('');

export const names = async (open: OpenTools) => [...(await open.offered()).keys()];
