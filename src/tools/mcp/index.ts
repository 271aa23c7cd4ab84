/** The tools of the MCP servers in the settings, one client per server, shared by all chats. */
import type { Finding, Tool } from '../../../engines/contract.ts';
import type { ParentLogger } from '../../engine-context.ts';
import type { Environment, LoadedSettings } from '../../settings/load.ts';
import type { ToolSource } from '../toolbox.ts';
import { mostTools } from './limits.ts';
import { nameTool } from './names.ts';
import { createMcpServer } from './server.ts';

export interface McpOptions {
  readonly settings: Pick<LoadedSettings, 'mcpServers' | 'baseDir'>;
  readonly env: Environment;
  readonly log: ParentLogger;
  /** Milliseconds between the beginnings of two attempts to connect to a server; ten seconds when absent. */
  readonly backOffMs?: number;
}

export interface McpTools extends ToolSource, AsyncDisposable {
  /** Begins to connect to all servers, in the background. */
  connect(): void;
  /** Whether each server answers, for `npm run doctor`; bounded by the time that a connection may take. */
  inspect(): Promise<readonly Finding[]>;
}

/** `read_aloud` is offered, too. */
const mostBeside = mostTools - 1;

export function createMcpTools({ settings, env, log, backOffMs }: McpOptions): McpTools {
  const { mcpServers, baseDir } = settings;
  const servers = Object.entries(mcpServers).map(([name, server]) =>
    createMcpServer({ name, settings: server, env, baseDir, log: log.child({ mcp: name }), backOffMs }),
  );
  const never = new AbortController().signal;
  let hasTooMany = false;

  /** Once, until it is mended. */
  function warnOfTooMany(tools: number): void {
    const message = `some tools are not offered: ${mostTools} fit in all, name those to offer in the servers' \`tools\``;
    if (tools > mostBeside && !hasTooMany) log.warn({ tools }, message);
    hasTooMany = tools > mostBeside;
  }

  return {
    connect() {
      for (const server of servers) void server.connect();
    },

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
      warnOfTooMany(offered.size);
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
