/** A connection to an MCP server: open, list tools, call, close. */
import { isAbsolute, resolve } from 'node:path';
import type { CallToolResult, Progress } from '@modelcontextprotocol/client';
import type { Logger } from '../../../engines/contract/index.ts';
import { pause, raceAbort, startTimeout } from '../../../lib/abort.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import type { Environment } from '../../settings/load.ts';
import type { McpServerSettings } from '../../settings/mcp-servers.ts';
import { openHttpTransport } from './http.ts';
import { maxListLength, maxPages } from './bounds.ts';
import { StdioTransport } from './stdio.ts';

export interface ConnectionOptions {
  readonly server: McpServerSettings;
  /** The environment of the service. Programs inherit only a few of its variables. */
  readonly env: Environment;
  /** Base of relative commands, and working directory of programs. */
  readonly baseDir: string;
  readonly log: Logger;
  /** Sanitizes server text for the log. */
  readonly clean: (text: string) => string;
  readonly signal: AbortSignal;
  /** Milliseconds before a notification stream that has ended is reopened. */
  readonly backOffMs: number;
  /** Called when the server has closed the connection. */
  readonly onClosed: () => void;
  /** Called when the tool list has changed. */
  readonly onChanged: () => void;
}

export interface Call {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Connection {
  /** Resolves with the tool list as sent, not validated. */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  call(name: string, args: Readonly<Record<string, unknown>>, call: Call): Promise<CallToolResult>;
  /** Returns why the connection ended, for the log. A program's exit is more informative than the error. */
  ending(error: unknown): string;
  /** Never rejects. */
  close(): Promise<void>;
}

const inherited = ['HOME', 'PATH', 'SHELL', 'TERM'] as const;

/** Long timeout, because programs may have to be downloaded first, for example by npx. */
const connectMs = 30_000;
const listMs = 10_000;

/** Tools are validated one by one later, so that one invalid tool does not hide the others. */
const anything = {
  '~standard': { version: 1, vendor: 'parlance', validate: (value: unknown) => ({ value }) },
} as const;

/** Rejects if the server is not connected within 30 seconds. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, env, signal, backOffMs, onClosed, onChanged, log, clean } = options;
  const sdk = await import('@modelcontextprotocol/client'); // lazy, because it takes 150 ms
  signal.throwIfAborted();
  const transport =
    server.url === undefined
      ? createStdioTransport(options, sdk.deserializeMessage)
      : openHttpTransport(sdk.StreamableHTTPClientTransport, {
          ...{ url: server.url, headers: server.headers ?? {} },
          env,
        });
  const ending = (error: unknown) =>
    (transport instanceof StdioTransport ? transport.ending : undefined) ?? reasonOf(error);
  // As of version 2026-07-28, the protocol has no handshake. Only HTTP servers are probed for that version, because
  // some programs exit on an unknown first request.
  const mode = server.url === undefined ? 'legacy' : 'auto';
  const client = new sdk.Client({ name: 'parlance', version: '1' }, { versionNegotiation: { mode } });
  client.onerror = (error) => log.debug({ reason: clean(reasonOf(error)) }, 'MCP server error');
  client.setNotificationHandler('notifications/tools/list_changed', onChanged);
  const ended = new AbortController();
  let isOpen = false;
  client.onclose = () => {
    if (isOpen) onClosed();
  };
  const close = async () => {
    isOpen = false;
    ended.abort(new Error('the connection has been closed'));
    await transport
      .close()
      .catch((error: unknown) => log.debug({ reason: clean(reasonOf(error)) }, 'MCP connection not closed cleanly'));
  };
  try {
    // The SDK applies the timeout to the probe and the handshake separately, and ignores the signal during the probe.
    using deadline = startTimeout(connectMs, () => new Error(`no response within ${connectMs / 1000} seconds`), signal);
    await raceAbort(client.connect(transport, { signal, timeout: connectMs }), deadline.signal);
  } catch (error) {
    const lost = error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed;
    const reason = lost ? ending(error) : reasonOf(error);
    await close();
    throw new Error(reason, { cause: error });
  }
  isOpen = true;
  if (client.getProtocolEra() === 'modern' && client.getServerCapabilities()?.tools?.listChanged === true) {
    void followChanges().catch((error: unknown) => {
      if (!ended.signal.aborted) log.debug({ reason: clean(reasonOf(error)) }, 'MCP server reports no changes');
    });
  }
  return {
    ending,
    close,

    async list(signal) {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      const tools: unknown[] = [];
      let cursor: unknown;
      for (let page = 0; page < maxPages && tools.length < maxListLength; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: 'tools/list', params }, anything, { signal, timeout: listMs });
        const { tools: more, nextCursor } = answer as { tools?: unknown; nextCursor?: unknown };
        if (!Array.isArray(more)) throw new Error('invalid tool list');
        tools.push(...(more.slice(0, maxListLength) as unknown[]));
        if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
        cursor = nextCursor;
      }
      return tools.slice(0, maxListLength);
    },

    async call(name, args, { signal, timeoutMs, onProgress }) {
      // Does not use callTool, because it would compile a JSON Schema from the server.
      const request = { method: 'tools/call', params: { name, arguments: args } } as const;
      return client.request(request, { signal, timeout: timeoutMs, onprogress: onProgress });
    },
  };

  /** As of version 2026-07-28, a client must request notifications, and must do so again whenever their stream ends. */
  async function followChanges(): Promise<void> {
    for (;;) {
      const { closed } = await client.listen({ toolsListChanged: true }, { timeout: listMs, signal: ended.signal });
      await closed;
      await pause(backOffMs, ended.signal);
      onChanged(); // there may have been changes in the meantime
    }
  }
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
  if (program === undefined) throw new Error(`program not found: ${command}`);
  const onStderr = (line: string) => log.debug({ stderr: clean(line) }, 'MCP server stderr');
  return new StdioTransport({ program, args, env: environment, cwd: baseDir, onStderr, parse });
}

/** Describes an error with its causes, because the message of fetch is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause, status } = error as { message?: unknown; cause?: unknown; status?: unknown };
  const words = `${typeof status === 'number' ? `status ${status}: ` : ''}${String(message ?? error)}`;
  return cause === undefined ? words : `${words}: ${reasonOf(cause)}`;
}
