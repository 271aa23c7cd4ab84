/** One connection to an MCP server: opened, asked for its tools, called, closed. */
import { isAbsolute, resolve } from 'node:path';
import type { CallToolResult, Progress } from '@modelcontextprotocol/client';
import type { Logger } from '../../../engines/contract/index.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import type { Environment } from '../../settings/load.ts';
import type { McpServerSettings } from '../../settings/table.ts';
import { openHttpTransport } from './http.ts';
import { longestList, mostPages } from './limits.ts';
import { StdioTransport } from './stdio.ts';

export interface ConnectionOptions {
  readonly server: McpServerSettings;
  /** The service's: what a program inherits of it is named here. */
  readonly env: Environment;
  /** A relative command is relative to this directory, and programs work in it. */
  readonly baseDir: string;
  readonly log: Logger;
  /** Makes what the server says fit for the log. */
  readonly clean: (text: string) => string;
  readonly signal: AbortSignal;
  /** The server has ended the connection. */
  readonly onClosed: () => void;
  /** The server's tools are others now. */
  readonly onChanged: () => void;
}

export interface Call {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Connection {
  /** Its tools as it describes them, unchecked. */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  call(name: string, args: Readonly<Record<string, unknown>>, call: Call): Promise<CallToolResult>;
  /** Why it has ended, for the log: the error says less than a program's exit. */
  ending(error: unknown): string;
  /** Never rejects. */
  close(): Promise<void>;
}

const inherited = ['HOME', 'PATH', 'SHELL', 'TERM'] as const;

/** A program may have to be downloaded first, by npx or its like. */
const connectMs = 30_000;
const listMs = 10_000;

/** What the server sends is looked at piece by piece: one wrong tool is not to hide the others. */
const anything = {
  '~standard': { version: 1, vendor: 'parlance', validate: (value: unknown) => ({ value }) },
} as const;

/** Rejects when the server does not answer as one within thirty seconds. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, env, signal, onClosed, onChanged, log, clean } = options;
  const sdk = await import('@modelcontextprotocol/client'); // 150 ms of a start that may never need it
  signal.throwIfAborted();
  const transport =
    server.url === undefined
      ? createStdioTransport(options, sdk.deserializeMessage)
      : openHttpTransport(sdk.StreamableHTTPClientTransport, {
          ...{ url: server.url, headers: server.headers ?? {} },
          env,
        });
  const ending = (error: unknown) =>
    (transport instanceof StdioTransport ? transport.ending : undefined) ?? describe(error);
  const client = new sdk.Client({ name: 'parlance', version: '1' });
  client.onerror = (error) => log.debug({ reason: clean(describe(error)) }, 'an error of the MCP server');
  client.setNotificationHandler('notifications/tools/list_changed', onChanged);
  let isOpen = false;
  client.onclose = () => {
    if (isOpen) onClosed();
  };
  const close = async () => {
    isOpen = false;
    await transport
      .close()
      .catch((error: unknown) => log.debug({ reason: clean(describe(error)) }, 'not closed cleanly'));
  };
  try {
    await client.connect(transport, { signal, timeout: connectMs });
  } catch (error) {
    const lost = error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed;
    const reason = lost ? ending(error) : describe(error);
    await close();
    throw new Error(reason, { cause: error });
  }
  isOpen = true;
  return {
    ending,
    close,

    async list(signal) {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      const tools: unknown[] = [];
      let cursor: unknown;
      for (let page = 0; page < mostPages && tools.length < longestList; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: 'tools/list', params }, anything, { signal, timeout: listMs });
        const { tools: more, nextCursor } = answer as { tools?: unknown; nextCursor?: unknown };
        if (!Array.isArray(more)) throw new Error('its list of tools is none');
        tools.push(...(more.slice(0, longestList) as unknown[]));
        if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
        cursor = nextCursor;
      }
      return tools.slice(0, longestList);
    },

    async call(name, args, { signal, timeoutMs, onProgress }) {
      // Not callTool, which would compile a JSON Schema that the server has written.
      const request = { method: 'tools/call', params: { name, arguments: args } } as const;
      return client.request(request, { signal, timeout: timeoutMs, onprogress: onProgress });
    },
  };
}

function createStdioTransport(
  { server, env, baseDir, log, clean }: ConnectionOptions,
  parse: ConstructorParameters<typeof StdioTransport>[0]['parse'],
): StdioTransport {
  const { command = '', args = [] } = server;
  const basics = inherited.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const environment: Record<string, string> = { ...Object.fromEntries(basics), ...server.env };
  const isPath = command.includes('/') && !isAbsolute(command);
  const program = findExecutable(isPath ? resolve(baseDir, command) : command, environment.PATH);
  if (program === undefined) throw new Error(`there is no program ${command}`);
  const onStderr = (line: string) => log.debug({ stderr: clean(line) }, 'the MCP server says');
  return new StdioTransport({ program, args, env: environment, cwd: baseDir, onStderr, parse });
}

/** With the causes: fetch says only that it failed. */
function describe(error: unknown): string {
  const { message, cause, status } = error as { message?: unknown; cause?: unknown; status?: unknown };
  const words = `${typeof status === 'number' ? `status ${status}: ` : ''}${String(message ?? error)}`;
  return cause === undefined ? words : `${words}: ${describe(cause)}`;
}
