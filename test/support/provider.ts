/**
 * A provider of our own on a raw TCP socket: it reads requests as they come, says what a test tells it to say, byte by
 * byte if need be, and remembers what it was sent and when its connections ended.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request, answered by hand. */
export interface ProviderCall {
  readonly method: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body that have come so far. */
  readonly received: number;
  /** The body, once it is complete; rejects when the connection ends before. */
  readonly body: Promise<Buffer>;
  /** Resolves with performance.now() when the connection is gone, as seen from here. */
  readonly gone: Promise<number>;
  readonly socket: Socket;
  /** Sends a whole answer, with its length. */
  reply(status: number, body: string | object, headers?: Readonly<Record<string, string>>): void;
}

/** What the provider does with a request; the body is read all the same. */
export type Behavior = (call: ProviderCall) => unknown;

export interface RawProvider extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string;
  readonly calls: readonly ProviderCall[];
  /** Open connections on which a call was made, discovery excepted. */
  readonly open: ReadonlySet<Socket>;
  /** How many connections there have been. */
  readonly connections: number;
  /** Answers the next requests, in turn; the last one stays. */
  behave(...behaviors: Behavior[]): void;
}

export interface RawProviderOptions {
  /** Bytes a second that are read of a request; absent: as they come. */
  readonly readsPerSecond?: number;
  /** The bodies are counted but not kept. */
  readonly forgetful?: boolean;
  /** Absent: any that is free. */
  readonly port?: number;
  /** Answers the question for Ollama's list of models, which engines ask in the background; absent: it is no Ollama. */
  readonly tags?: Behavior;
}

/** The whole body first, then this answer. */
export function answers(
  status: number,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): Behavior {
  return async (call) => {
    await call.body;
    call.reply(status, body, headers);
  };
}

/** The same, before any of the body is read. */
export function answersAtOnce(status: number, body: string | object): Behavior {
  return (call) => call.reply(status, body);
}

/** The whole body first, then these bytes as they are, and the end of the connection. */
export function says(...bytes: string[]): Behavior {
  return async ({ body, socket }) => {
    await body;
    for (const chunk of bytes) socket.write(chunk, 'latin1');
    socket.end();
  };
}

/** Breaks the connection with a RST. */
export const resets: Behavior = ({ socket }) => void socket.resetAndDestroy();

/** Reads and never answers. */
export const stalls: Behavior = () => undefined;

/** It ends with the test. */
export async function startProvider(options: RawProviderOptions = {}): Promise<RawProvider> {
  const provider = await openProvider(options);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return provider;
}

/** Whoever calls this disposes of it. */
export async function openProvider(options: RawProviderOptions = {}): Promise<RawProvider> {
  const { tags = answersAtOnce(404, 'No such path.') } = options;
  const calls: ProviderCall[] = [];
  const sockets = new Set<Socket>();
  const open = new Set<Socket>();
  let connections = 0;
  let line: Behavior[] = [];
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}); // tests break connections on purpose
    socket.once('close', () => [sockets, open].forEach((set) => set.delete(socket)));
    serve(socket, options, (call) => {
      const isForOllama = call.path.endsWith('/api/tags');
      if (!isForOllama) {
        calls.push(call);
        open.add(socket);
      }
      const behave = isForOllama ? tags : line.length > 1 ? line.shift() : line[0];
      void Promise.resolve(behave?.(call)).catch(() => undefined);
    });
  });
  await listening(server, options.port);
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    open,
    get connections() {
      return connections;
    },
    behave: (...behaviors) => void (line = behaviors),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listening(server: Server, port = 0): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
  });
}

/** Takes the connection's requests apart, one after the other; all of them carry a Content-Length or no body. */
function serve(socket: Socket, options: RawProviderOptions, onCall: (call: ProviderCall) => void): void {
  let head = Buffer.alloc(0);
  let current: Incoming | undefined;
  const gone = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now())));
  socket.once('close', () => current?.breakOff());
  socket.on('data', (chunk: Buffer) => {
    if (options.readsPerSecond !== undefined) holdBack(socket, (chunk.length / options.readsPerSecond) * 1000);
    let rest = chunk;
    while (rest.length > 0) {
      if (current === undefined) {
        head = Buffer.concat([head, rest]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        current = startCall(head.toString('latin1', 0, end), { socket, gone, forgetful: options.forgetful ?? false });
        rest = head.subarray(end + 4);
        head = Buffer.alloc(0);
        onCall(current.call);
      }
      rest = current.take(rest);
      if (current.complete) current = undefined;
    }
  });
}

function holdBack(socket: Socket, ms: number): void {
  socket.pause();
  const timer = setTimeout(() => socket.resume(), ms);
  socket.once('close', () => clearTimeout(timer));
}

interface Incoming {
  readonly call: ProviderCall;
  readonly complete: boolean;
  /** Returns what belongs to the next request. */
  take(bytes: Buffer): Buffer;
  breakOff(): void;
}

interface Connection {
  readonly socket: Socket;
  readonly gone: Promise<number>;
  readonly forgetful: boolean;
}

function startCall(head: string, { socket, gone, forgetful }: Connection): Incoming {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let received = 0;
  const { promise: body, resolve, reject } = Promise.withResolvers<Buffer>();
  body.catch(() => {}); // not every test waits for it
  if (length === 0) resolve(Buffer.alloc(0));
  const reply: ProviderCall['reply'] = (status, content, extra = {}) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const fields = {
      'content-type': typeof content === 'string' ? 'text/plain' : 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      ...extra,
    };
    const names = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} Whatever\r\n${names.join('')}\r\n${text}`);
  };
  return {
    call: {
      ...{ method, path, headers, body, gone, socket, reply },
      get received() {
        return received;
      },
    },
    get complete() {
      return received >= length;
    },
    take(bytes) {
      const own = bytes.subarray(0, length - received);
      received += own.length;
      if (!forgetful) chunks.push(own);
      if (received >= length) resolve(Buffer.concat(chunks));
      return bytes.subarray(own.length);
    },
    breakOff: () => reject(new Error(`the connection ended after ${received} of ${length} bytes`)),
  };
}

/** The parts of a multipart body by name: their own headers and their content. */
export async function readForm(
  call: ProviderCall,
): Promise<Readonly<Record<string, { readonly head: string; readonly content: Buffer }>>> {
  const [, boundary] = /boundary=(.*)$/.exec(call.headers['content-type'] ?? '') ?? [];
  if (boundary === undefined) throw new Error(`no form: ${String(call.headers['content-type'])}`);
  const text = (await call.body).toString('latin1');
  const [preamble, ...parts] = text.split(`--${boundary}`);
  if (preamble !== '' || parts.pop() !== '--\r\n') throw new Error('the form does not begin or end as it should');
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const head = part.slice(2, end);
      const [, name = ''] = /name="([^"]*)"/.exec(head) ?? [];
      return [name, { head, content: Buffer.from(part.slice(end + 4, -2), 'latin1') }];
    }),
  );
}
