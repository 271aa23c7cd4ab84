/** The tools of the MCP servers in the settings. There is one client per server, which all chats share. */
import { createHash } from 'node:crypto';
import type { Finding, Tool } from '../../../engines/contract/index.ts';
import type { ParentLogger } from '../../engine-host/context.ts';
import type { Environment, LoadedSettings } from '../../settings/load.ts';
import type { ToolSource } from '../toolbox.ts';
import { createMcpServer } from './server.ts';

export interface McpOptions {
  readonly settings: Pick<LoadedSettings, 'mcpServers' | 'baseDir'>;
  readonly env: Environment;
  readonly log: ParentLogger;
  /** Milliseconds between the starts of two connection attempts to a server. Default: 10 s. */
  readonly backOffMs?: number;
}

export interface McpTools extends ToolSource, AsyncDisposable {
  /** Starts connecting to all servers in the background. */
  connect(): void;
  /** Returns whether each server is currently connected. Does not connect. */
  states(): readonly { readonly name: string; readonly isUp: boolean }[];
  /** Checks every server for `npm run doctor`. Takes as long as the slowest connection attempt. */
  inspect(): Promise<readonly Finding[]>;
}

export function createMcpTools({ settings, env, log, backOffMs }: McpOptions): McpTools {
  const { mcpServers, baseDir } = settings;
  const servers = Object.entries(mcpServers).map(([name, server]) =>
    createMcpServer({ name, settings: server, env, baseDir, log: log.child({ mcp: name }), backOffMs }),
  );
  const never = new AbortController().signal;
  return {
    connect() {
      for (const server of servers) void server.connect();
    },

    states: () => servers.map(({ name, trouble }) => ({ name, isUp: trouble === undefined })),

    async toolsFor({ signal }) {
      const found = await Promise.all(servers.map(async (server) => ({ server, tools: await server.tools(signal) })));
      const offered = new Map<string, Tool>();
      for (const { server, tools } of found) {
        for (const { name: own, description, parameters } of tools) {
          const name = nameTool(server.name, own, offered);
          if (offered.has(name)) continue;
          offered.set(name, { name, description, parameters, run: (args, call) => server.call(own, args, call) });
        }
      }
      return [...offered.values()];
    },

    async inspect() {
      return Promise.all(
        servers.map(async (server) => {
          await server.connect();
          const { trouble } = server;
          const { length } = await server.tools(never);
          const detail = trouble ?? `answers, ${length} ${length === 1 ? 'tool' : 'tools'}`;
          return { what: server.name, ok: trouble === undefined, detail };
        }),
      );
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(async (server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** Limits for names that every provider accepts. */
const maxNameLength = 64;
const validName = new RegExp(`^[a-zA-Z0-9_-]{1,${maxNameLength}}$`);
const digestLength = 8;

/**
 * Returns `server__tool`. If that is invalid or already taken, its end is replaced with a digest of both names, so that
 * a tool keeps its name regardless of what else the servers offer.
 */
function nameTool(server: string, tool: string, taken: Pick<ReadonlySet<string>, 'has'>): string {
  const plain = `${server}__${tool}`;
  if (validName.test(plain) && !taken.has(plain)) return plain;
  const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, digestLength);
  const start = plain.slice(0, maxNameLength - digestLength - 1).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${start}_${digest}`;
}
