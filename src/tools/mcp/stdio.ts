/** MCP over stdio: JSON-RPC messages, one per line. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { adopt, endingWithParent } from '../../system/child-process/child.ts';
import { maxMessageBytes, messageRate } from './bounds.ts';
import { ignore, messageOf } from '../../../lib/errors.ts';
import { LineSplitter, toJsonLine } from '../../../lib/json-lines.ts';
import { createRateLimit } from '../../../lib/rate-limit.ts';

export interface StdioOptions {
  /** Absolute path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Called with each stderr line, truncated to 500 bytes, at most 20 times per second. */
  readonly onStderr: (line: string) => void;
  /** Throws for an invalid message. */
  readonly parse: (line: string) => JSONRPCMessage;
}

/** Maximum number of lines that are not messages. Allows a banner, but rejects a program that is not an MCP server. */
const strayLines = 100;

/** Grace period after closing stdin, and again after SIGTERM. */
const graceMs = 1_000;

/** Time to drain the pipe of an exited program, because its children may keep the pipe open. */
const drainMs = 500;

/** Limits for stderr in the log: bytes per line and lines per second. */
const logLine = 500;
const logLinesPerSecond = 20;

/**
 * Replaces the SDK's transport, which ends only the program itself and leaks its children (of npx or a shell), leaves
 * the program running when the service is killed, and reads without a rate limit.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #kill: (() => void) | undefined;
  #gone: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #lastStderrLine = '';
  /** Why the program ended, for the log; undefined while it runs. */
  ending: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { program, args, env, cwd } = this.#options;
    const [command, ...rest] = endingWithParent(program, args);
    const child = spawn(command, rest, { cwd, env, stdio: 'pipe', detached: true });
    // Rejects with the reason if the program did not start. When out of file descriptors, the pipes are also missing.
    if (child.pid === undefined) await once(child, 'spawn');
    this.#child = child;
    this.#kill = adopt(child);
    this.#gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${String(code)}`;
      this.ending ??= `ended with ${how}${this.#lastStderrLine === '' ? '' : `: ${this.#lastStderrLine}`}`;
      setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()), drainMs).unref();
    });
    child.stdin.on('error', ignore); // EPIPE after the exit, which is already reported
    void this.#readStderr(child.stderr);
    await once(child, 'spawn');
    void this.#read(child.stdout);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#isClosed || !stdin?.writable) return Promise.reject(new Error('the program has exited'));
    if (stdin.writableLength > maxMessageBytes) return Promise.reject(new Error('the program does not read its stdin'));
    stdin.write(toJsonLine(message));
    return Promise.resolve();
  }

  /** Resolves when the program has exited, within at most 2.5 seconds. */
  async close(): Promise<void> {
    this.#setClosed();
    const child = this.#child;
    if (child === undefined) return;
    child.stdin.end();
    if (!(await this.#exitsWithin(graceMs))) {
      child.kill('SIGTERM');
      await this.#exitsWithin(graceMs);
    }
    this.#kill?.();
    await this.#exitsWithin(drainMs);
    child.stdout.destroy();
    child.stderr.destroy();
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const late = wait(ms, false, { signal: timer.signal }).catch(() => false);
    const isGone = await Promise.race([this.#gone.then(() => true), late]);
    timer.abort();
    return isGone;
  }

  async #read(stdout: Readable): Promise<void> {
    const limitRate = createRateLimit(messageRate);
    let stray = 0;
    try {
      for await (const line of linesOf(stdout, maxMessageBytes)) {
        await limitRate(1);
        const message = this.#parse(line);
        if (message) this.onmessage?.(message);
        else if ((stray += 1) > strayLines) throw new Error('the output is not MCP');
      }
    } catch (error) {
      if (!this.#isClosed) this.ending = messageOf(error);
      this.#kill?.();
    }
    await this.#exitsWithin(drainMs); // the exit is reported after the last output
    this.#setClosed();
  }

  #parse(line: string): JSONRPCMessage | undefined {
    try {
      return this.#options.parse(line);
    } catch {
      return undefined;
    }
  }

  async #readStderr(stderr: Readable): Promise<void> {
    const limitRate = createRateLimit(messageRate);
    let second = 0;
    let logged = 0;
    try {
      for await (const line of linesOf(stderr, logLine, 'truncate')) {
        if (line.trim() !== '') this.#lastStderrLine = line;
        const now = Math.floor(performance.now() / 1000);
        logged = now === second ? logged + 1 : 1;
        second = now;
        if (logged <= logLinesPerSecond) this.#options.onStderr(line);
        await limitRate(1);
      }
    } catch {
      // the pipe of a killed program failed; its exit has already been reported
    }
  }

  #setClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/**
 * Yields lines. Truncates a line over the limit or throws, depending on `overflow`. Leaving the loop closes the stream.
 */
async function* linesOf(stream: Readable, limit: number, overflow?: 'truncate'): AsyncGenerator<string> {
  const lines = new LineSplitter(limit, overflow ?? 'throw');
  for await (const chunk of stream as AsyncIterable<Buffer>) yield* lines.push(chunk);
  yield* lines.end();
}
