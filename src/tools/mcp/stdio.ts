/** An MCP server that is a program: JSON-RPC messages, one a line, over its stdin and stdout. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { adopt, endingWithParent } from '../../system/child-process.ts';
import { largestMessage } from './limits.ts';
import { createPace } from './pace.ts';

export interface StdioOptions {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A line that it has written to stderr, cut to 500 characters; at most twenty a second. */
  readonly onStderr: (line: string) => void;
  /** Throws for what is no message. */
  readonly parse: (line: string) => JSONRPCMessage;
}

/** Lines that are no messages: a greeting is forgiven, a program that is no MCP server is not. */
const strayLines = 100;

/** Waits after the end of stdin, and after SIGTERM, before the next step. */
const farewellMs = 1_000;

/** What a dead program has left in its pipe arrives within this time, unless a child of its own holds the pipe open. */
const drainMs = 500;

/** Stderr in the log: so many characters a line, so many lines a second. */
const logLine = 500;
const logLinesPerSecond = 20;

/**
 * The SDK's own transport would end the program alone and leave behind what it has started (npx, a shell), would leave
 * it alive when the service is killed, and reads a flood as fast as it comes.
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
  #lastWords = '';
  /** Why it is gone, for the log; undefined while it is there. */
  ending: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { program, args, env, cwd } = this.#options;
    const [command, ...rest] = endingWithParent(program, args);
    const child = spawn(command, rest, { cwd, env, stdio: 'pipe', detached: true });
    // It was not started, and out of file descriptors it has no pipes either: rejects with the reason.
    if (child.pid === undefined) await once(child, 'spawn');
    this.#child = child;
    this.#kill = adopt(child);
    this.#gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${String(code)}`;
      this.ending ??= `it ended with ${how}${this.#lastWords === '' ? '' : `: ${this.#lastWords}`}`;
      setTimeout(() => child.stdout.destroy(), drainMs).unref();
    });
    child.stdin.on('error', () => undefined); // the pipe of a dead program; its exit tells
    void this.#hear(child.stderr);
    await once(child, 'spawn');
    void this.#read(child.stdout);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#isClosed || !stdin?.writable) return Promise.reject(new Error('the program has ended'));
    if (stdin.writableLength > largestMessage) return Promise.reject(new Error('the program does not read'));
    stdin.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  /** Resolves when the program is gone: after two and a half seconds at the latest. */
  async close(): Promise<void> {
    this.#closed();
    const child = this.#child;
    if (child === undefined) return;
    child.stdin.end();
    if (!(await this.#goneWithin(farewellMs))) {
      child.kill('SIGTERM');
      await this.#goneWithin(farewellMs);
    }
    this.#kill?.();
    await this.#goneWithin(drainMs);
    child.stdout.destroy();
    child.stderr.destroy();
  }

  async #goneWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const late = wait(ms, false, { signal: timer.signal }).catch(() => false);
    const isGone = await Promise.race([this.#gone.then(() => true), late]);
    timer.abort();
    return isGone;
  }

  async #read(stdout: Readable): Promise<void> {
    const pace = createPace();
    let stray = 0;
    try {
      for await (const line of linesOf(stdout, largestMessage)) {
        await pace(1);
        const message = this.#parse(line);
        if (message) this.onmessage?.(message);
        else if ((stray += 1) > strayLines) throw new Error('it writes what are no MCP messages');
      }
    } catch (error) {
      if (!this.#isClosed) this.ending = (error as Error).message;
      this.#kill?.();
    }
    await this.#goneWithin(drainMs); // how it has ended is told after the last it said
    this.#closed();
  }

  #parse(line: string): JSONRPCMessage | undefined {
    try {
      return this.#options.parse(line);
    } catch {
      return undefined;
    }
  }

  async #hear(stderr: Readable): Promise<void> {
    const pace = createPace();
    let second = 0;
    let logged = 0;
    try {
      for await (const line of linesOf(stderr, logLine, 'cut')) {
        if (line.trim() !== '') this.#lastWords = line;
        const now = Math.floor(performance.now() / 1000);
        logged = now === second ? logged + 1 : 1;
        second = now;
        if (logged <= logLinesPerSecond) this.#options.onStderr(line);
        await pace(1);
      }
    } catch {
      // the pipe of a killed program; its exit tells
    }
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** Throws at a longer line, or cuts it. Leaving the loop closes the stream. */
async function* linesOf(stream: Readable, limit: number, longer: 'throw' | 'cut' = 'throw'): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    if (length + part.length > limit && longer === 'throw') throw new Error(`it sent more than ${limit} bytes at once`);
    if (length === limit) return;
    parts.push(part.subarray(0, limit - length));
    length = Math.min(limit, length + part.length);
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      take(rest.subarray(0, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      rest = rest.subarray(end + 1);
    }
    take(rest);
  }
  if (length > 0) yield Buffer.concat(parts).toString('utf8');
}
