/** One MCP server, which is connected in the background and reconnected when needed. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { onAbort, raceAbort, startTimeout } from '../../../lib/abort.ts';
import { EngineError, type Logger, type Tool } from '../../../engines/contract/index.ts';
import type { Environment } from '../../settings/load.ts';
import type { McpServerSettings } from '../../settings/mcp-servers.ts';
import { shorten } from '../../../lib/text.ts';
import { openConnection, type Connection } from './connection.ts';
import { readDefinitions, type Definition } from './definitions.ts';
import { maxOutputLength } from './bounds.ts';
import { toText } from './output.ts';
import { messageOf } from '../../../lib/errors.ts';

export interface McpServerOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly env: Environment;
  readonly baseDir: string;
  /** A child logger for this server. */
  readonly log: Logger;
  /** Milliseconds between the starts of two connection attempts. Default: 10 s. */
  readonly backOffMs?: number | undefined;
}

export interface McpServer extends AsyncDisposable {
  readonly name: string;
  /** Starts connecting, unless already connected or within the back-off. Resolves when the attempt ends. */
  connect(): Promise<void>;
  /**
   * Resolves with the tools of the server; empty while it is down. Waits briefly for a connection attempt that has just
   * begun.
   */
  tools(signal: AbortSignal): Promise<readonly Definition[]>;
  /** Runs a tool, like `Tool.run`. `tool` is the server's own name for the tool. */
  call(tool: string, ...args: Parameters<Tool['run']>): Promise<string>;
  /** Why the server is down, for the operator; undefined while it is connected. */
  readonly trouble: string | undefined;
}

/** How long chats wait for a connection attempt, in milliseconds from its start. */
const connectWaitMs = 2_000;
const connectTimeout = new Error('the connection attempt timed out');

/** Minimum interval between reads of the tool list, in milliseconds. */
const refreshMs = 1_000;

/** Minimum interval between progress events of a call, in milliseconds; events in between are dropped. */
const progressMs = 50;

const defaultTimeoutSeconds = 60;

/** Maximum length of a server's text in the log. */
const maxReasonLength = 500;

type ServerState =
  | { readonly is: 'idle' }
  | {
      readonly is: 'connecting';
      readonly attemptedAt: number;
      /** Resolves when the attempt ends. */
      readonly over: Promise<void>;
      /** Why the last attempt failed, or the last connection was lost; undefined before the first attempt. */
      readonly trouble: string | undefined;
    }
  | Connected
  | { readonly is: 'down'; readonly attemptedAt: number; readonly trouble: string }
  | { readonly is: 'ended' };

interface ConnectAttempt {
  readonly attemptedAt: number;
  /** Whether the server has already been logged as down. */
  readonly wasDown: boolean;
}

interface Connected {
  readonly is: 'connected';
  /** Start time of the attempt that led to this connection. */
  readonly attemptedAt: number;
  readonly connection: Connection;
  definitions: readonly Definition[];
  /** State of `definitions`, according to the server's notifications. */
  list: 'current' | 'outdated' | 'being read';
}

export function createMcpServer(options: McpServerOptions): McpServer {
  const { name, settings, env, baseDir, log, backOffMs = 10_000 } = options;
  const ended = new AbortController();
  const timeoutSeconds = settings.timeout ?? defaultTimeoutSeconds;
  const secrets = secretsOf(settings);
  let state: ServerState = { is: 'idle' };
  /**
   * Runs work outside of the request that reconnects, so that the connection's log lines do not contain the ids of that
   * request.
   */
  const outside = AsyncLocalStorage.snapshot();
  /** The last complaint about the tools that was logged. It is not repeated. */
  let complained = '';

  return {
    name,
    connect,
    async tools(signal) {
      await beConnected(signal);
      return state.is === 'connected' ? state.definitions : [];
    },
    call,
    get trouble() {
      if (state.is === 'connected') return undefined;
      return ('trouble' in state ? state.trouble : undefined) ?? 'the server has not responded yet';
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new Error('the service ends'));
      const last = state;
      state = { is: 'ended' };
      if (last.is === 'connected') await last.connection.close();
      if (last.is === 'connecting') await last.over;
    },
  };

  function connect(): Promise<void> {
    if (state.is === 'connecting') return state.over;
    const now = performance.now();
    const isTooSoon = state.is === 'down' && now - state.attemptedAt < backOffMs;
    if (state.is === 'connected' || state.is === 'ended' || isTooSoon) return Promise.resolve();
    const trouble = state.is === 'down' ? state.trouble : undefined;
    const over = outside(() => open({ attemptedAt: now, wasDown: trouble !== undefined }));
    state = { is: 'connecting', attemptedAt: now, over, trouble };
    return over;
  }

  async function open({ attemptedAt, wasDown }: ConnectAttempt): Promise<void> {
    const lost = new AbortController();
    let opened: Connection | undefined;
    let connected: Connected | undefined;
    const news = { hasChanged: false };
    try {
      opened = await openConnection({
        ...{ server: settings, env, baseDir, log, clean, signal: ended.signal, backOffMs },
        onClosed() {
          lost.abort();
          if (connected !== undefined) lose(connected, new Error('the connection has ended'));
        },
        onChanged() {
          news.hasChanged = true;
          if (connected !== undefined) void refresh(connected);
        },
      });
      const definitions = read(await opened.list(ended.signal));
      ended.signal.throwIfAborted();
      lost.signal.throwIfAborted();
      state = connected = { is: 'connected', attemptedAt, connection: opened, definitions, list: 'current' };
      log.info({ tools: definitions.length }, wasDown ? 'the MCP server is back' : 'the MCP server is connected');
      if (news.hasChanged) void refresh(connected);
    } catch (error) {
      await opened?.close();
      const reason = lost.signal.aborted && opened !== undefined ? opened.ending(error) : messageOf(error);
      fail(reason, { attemptedAt, wasDown });
    }
  }

  /** Waits for a connection attempt that has just begun, but not for one that hangs. */
  async function beConnected(signal: AbortSignal): Promise<void> {
    void connect();
    if (state.is !== 'connecting') return;
    const { over, attemptedAt } = state;
    const remainingMs = attemptedAt + connectWaitMs - performance.now();
    if (remainingMs <= 0) return;
    using timeout = startTimeout(remainingMs, () => connectTimeout, signal);
    await raceAbort(over, timeout.signal).catch(() => undefined);
    signal.throwIfAborted();
  }

  function read(list: readonly unknown[]): readonly Definition[] {
    const { tools, complaints } = readDefinitions(list, settings.tools);
    const complaint = clean(complaints.join('; '));
    if (complaint !== '' && complaint !== complained)
      log.warn({ reason: complaint }, 'some tools of the MCP server were skipped');
    complained = complaint;
    return tools;
  }

  /** Reads the tool list again, at most once per `refreshMs`, while the server reports changes. */
  async function refresh(connected: Connected): Promise<void> {
    const isAtWork = connected.list !== 'current';
    connected.list = 'outdated';
    if (isAtWork) return;
    while (connected.list === 'outdated' && state === connected) {
      connected.list = 'being read';
      try {
        const list = await connected.connection.list(ended.signal);
        if (state !== connected) return; // the connection was lost in the meantime; the next one reads its own list
        connected.definitions = read(list);
        log.debug({ tools: connected.definitions.length }, 'the tools of the MCP server have changed');
      } catch (error) {
        log.debug({ reason: clean(messageOf(error)) }, 'the MCP server failed to list its tools');
      }
      await wait(refreshMs, undefined, { ref: false });
    }
    connected.list = 'current';
  }

  async function call(...[tool, args, { signal, emit }]: Parameters<McpServer['call']>): Promise<string> {
    signal.throwIfAborted();
    await beConnected(signal);
    if (state.is !== 'connected') throw new EngineError('engine-failed', `The tool server ${name} is not available.`);
    const connected = state;
    const caller = new AbortController();
    const off = onAbort(signal, () => caller.abort('the caller has disconnected')); // the reason is sent to the server
    let last = -Infinity;
    try {
      const result = await connected.connection.call(tool, args, {
        signal: caller.signal,
        timeoutMs: timeoutSeconds * 1000,
        onProgress({ progress, total, message }) {
          if (signal.aborted || performance.now() - last < progressMs) return;
          last = performance.now();
          const words = message === undefined ? undefined : shorten(message, maxReasonLength);
          emit({
            type: 'progress',
            progress,
            ...(total !== undefined && { total }),
            ...(words !== undefined && { message: words }),
          });
        },
      });
      const text = toText(result);
      if (result.isError === true) throw new EngineError('engine-failed', text);
      return text;
    } catch (error) {
      signal.throwIfAborted();
      throw EngineError.is(error) ? error : await toFailure(error, connected);
    } finally {
      off();
    }
  }

  /** Returns the error that the model receives for a call without a result. */
  async function toFailure(error: unknown, connected: Connected): Promise<EngineError> {
    const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } = await import('@modelcontextprotocol/client');
    // Serializing the model's arguments failed, so nothing was sent.
    if (error instanceof RangeError) return new EngineError('engine-failed', 'The arguments are nested too deeply.');
    const code = error instanceof SdkError ? error.code : undefined;
    const failed = (message: string) => new EngineError('engine-failed', message, { cause: error });
    if (error instanceof ProtocolError) return failed(shorten(error.message, maxOutputLength));
    if (code === SdkErrorCode.RequestTimeout) {
      const message = `The tool did not respond within ${timeoutSeconds} seconds.`;
      return new EngineError('engine-timeout', message, { cause: error });
    }
    if (code === SdkErrorCode.InvalidResult) return failed('The response of the tool is invalid.');
    const status = error instanceof SdkHttpError ? error.status : undefined;
    // Any HTTP status shows that the server is up, although it may have lost the session.
    if (status === undefined || hasForgotten(status, error)) lose(connected, error);
    else log.warn({ status }, 'the MCP server rejected a call');
    return failed(`The tool server ${name} failed during the call.`);
  }

  function lose(connected: Connected, error: unknown): void {
    if (state !== connected) return;
    const { connection, attemptedAt } = connected;
    fail(connection.ending(error), { attemptedAt, wasDown: false });
    void connection.close();
  }

  function fail(reason: string, { attemptedAt, wasDown }: ConnectAttempt): void {
    if (ended.signal.aborted) return;
    const trouble = clean(reason);
    state = { is: 'down', attemptedAt, trouble };
    if (wasDown) log.debug({ reason: trouble }, 'the MCP server is still down');
    else log.warn({ reason: trouble }, 'the MCP server is down: its tools are not offered');
  }

  /** Redacts the secrets that the settings pass to the server. */
  function clean(text: string): string {
    return shorten(
      secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text),
      maxReasonLength,
    );
  }
}

/**
 * Whether the server has lost the session. The protocol requires 404, but servers built with the SDK answer 400 after a
 * restart.
 */
function hasForgotten(status: number, error: unknown): boolean {
  return status === 404 || (status === 400 && /session|not initialized/i.test(messageOf(error)));
}

/** Matches arguments that contain a key or are followed by one. */
const namesOfKeys = /key|token|secret|passw|auth|credential/i;

/**
 * Returns values that the settings pass to the server, with and without their `Bearer` or `name=` prefix, longest
 * first. Omits values of up to 4 characters and most arguments, because they would match ordinary words.
 */
function secretsOf({ env, headers, url, args = [] }: McpServerSettings): string[] {
  const keys = args.filter((arg, index) => namesOfKeys.test(arg) || namesOfKeys.test(args[index - 1] ?? ''));
  const inAddress = url === undefined ? [] : new URL(url).searchParams.values();
  const values = [
    ...Object.values({ ...env, ...headers }),
    ...keys.filter((arg) => !/^-[^=]*$/.test(arg)),
    ...inAddress,
  ];
  return values
    .flatMap((value) => [value, value.replace(/^\S+ +/, ''), value.replace(/^.*[=\s]/s, '')])
    .filter(({ length }) => length > 4)
    .sort((one, other) => other.length - one.length);
}
