/** Accepts WebSockets and monitors them. This is the only file that uses ws, which is loaded by the first upgrade. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerOptions, WebSocket } from 'ws';
import type { Logger } from '../../../engines/contract/index.ts';
import { raceAbort } from '../../../lib/abort.ts';
import { ignore } from '../../../lib/errors.ts';
import { nextTurn } from '../../../lib/event-loop.ts';
import { ServerResponse } from '../../../lib/node-http.ts';
import { ProblemError } from '../../contract/problems.ts';
import type { SocketMessage, TextSocket } from '../../contract/session.ts';
import { acceptedBytes } from './progress.ts';
import { safeListener } from './safe-listener.ts';

interface AcceptOptions {
  /** Whether the API key is still valid and permits the session. */
  readonly isAllowed: () => boolean;
  /** Aborts when the caller disconnects and when the service shuts down. */
  readonly signal: AbortSignal;
}

export interface SocketsOptions {
  readonly log: Logger;
  /** Milliseconds between checks of all sockets. */
  readonly checkMs: number;
}

export type Sockets = ReturnType<typeof createSockets>;

const maxMessageBytes = 4 * 1024 * 1024;
/**
 * Maximum fragments per message. Each fragment keeps in memory the read buffer in which it arrived, which is up to 64
 * KB.
 */
const maxFragments = 64;
/** Maximum number of reads in which a fragment may arrive: enough for 4 MB in pieces of 256 bytes. */
const maxBufferedChunks = 16_384;
/** How long the messages of one socket are handled before timers and other sockets get their turn, in milliseconds. */
const sliceMs = 4;
/** 20 s. */
const checksPerPing = 2;
const maxMissedPongs = 2;
/** 30 s. */
const stalledChecks = 3;
/**
 * Number of consecutive checks that find the same message incomplete before the socket is closed; by the last one, at
 * least 30 s have passed.
 */
const incompleteChecks = 4;
/** Time for the client to confirm a close, in milliseconds. */
const closeTimeout = 10_000;
/** Time for the client to close a refused connection, in milliseconds. */
const refusedMs = 10_000;

/** Compression is disabled, because it would take memory per connection and allow decompression bombs. */
const serverOptions: ServerOptions & LatestOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
  maxFragments,
  maxBufferedChunks,
  closeTimeout,
  // Never select another offered subprotocol, because one of them contains the API key.
  handleProtocols: (offered) => offered.has('realtime') && 'realtime',
};

/** Options that are missing from the types of ws. */
interface LatestOptions {
  readonly closeTimeout: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

export function createSockets({ log, checkMs }: SocketsOptions) {
  /** All open sockets, which one timer checks. */
  const open = new Set<WatchedSocket>();
  let timer: NodeJS.Timeout | undefined;
  const check = safeListener(log, () => {
    for (const socket of open) socket.check();
  });

  function watch(socket: WatchedSocket): void {
    open.add(socket);
    timer ??= setInterval(check, checkMs).unref();
    void socket.closed.then(() => {
      open.delete(socket);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  }

  return {
    /**
     * Accepts the WebSocket, and sends the headers that are set on the response. Rejects with `malformed-request` for
     * an invalid handshake, or with the signal's reason.
     */
    async accept(res: UpgradeResponse, { isAllowed, signal }: AcceptOptions): Promise<WatchedSocket> {
      const socket = new WatchedSocket(await raceAbort(handshake(res), signal), res.req.socket, isAllowed, log);
      watch(socket);
      return socket;
    },
  };
}

/**
 * The response to a WebSocket request; Node.js emits such requests without one. A refusal ends the connection. An
 * accepted socket must be detached.
 */
export class UpgradeResponse extends ServerResponse {
  /** The bytes after the head of the request. */
  readonly head: Buffer;

  constructor(req: IncomingMessage, head: Buffer) {
    super(req);
    const { socket } = req;
    this.head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(socket);
    this.on('finish', () => {
      this.detachSocket(socket);
      socket.end();
      socket.resume().setTimeout(refusedMs, () => socket.destroy());
      this.emit('close');
    });
  }
}

async function handshake(res: UpgradeResponse): Promise<WebSocket> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer(serverOptions);
  const headers = Object.entries(res.getHeaders()).map(([name, value]) => `${name}: ${String(value)}`);
  server.on('headers', (lines) => lines.push(...headers));
  return new Promise((resolve, reject) => {
    // The message of ws names the invalid header, but quotes nothing that the client sent.
    server.on('wsClientError', ({ message }) => {
      reject(new ProblemError('malformed-request', `${message}.`, { headers: { 'Sec-WebSocket-Version': '13' } }));
    });
    const { socket } = res.req;
    server.handleUpgrade(res.req, socket, res.head, (ws) => {
      res.detachSocket(socket);
      resolve(ws);
    });
  });
}

class WatchedSocket implements TextSocket {
  readonly messages = this.#read();
  /** Resolves with the close code when the socket has closed. */
  readonly closed: Promise<number>;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #isAllowed: () => boolean;
  readonly #ended = new AbortController();
  readonly #received: SocketMessage[] = [];
  /** Wakes up the reader of the messages. */
  #onReceived = (): void => undefined;
  /** The code with which this side closed the socket; a client that is gone does not confirm it. */
  #closeCode: number | undefined;
  /** Settles once the last text has been passed to the operating system. */
  #sent: Promise<unknown> = Promise.resolve();
  #checks = 0;
  #missedPongs = 0;
  #accepted = 0;
  #stalled = 0;
  #incomplete = 0;

  constructor(ws: WebSocket, socket: Socket, isAllowed: () => boolean, log: Logger) {
    this.#ws = ws;
    this.#socket = socket;
    this.#isAllowed = isAllowed;
    ws.pause(); // paused until the session asks for a message
    socket.on('data', () => this.#yield());
    ws.on('message', (data: Buffer, isBinary) => this.#receive(isBinary ? undefined : data.toString()));
    ws.on('pong', () => (this.#missedPongs = 0));
    ws.on('error', (error) => log.debug({ err: error }, 'a WebSocket broke'));
    this.closed = new Promise((resolve) => {
      ws.on('close', (code) => {
        this.#end();
        resolve(this.#closeCode ?? code);
      });
    });
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  send(text: string): void {
    if (!this.#isOpen) return this.#end(); // else a session that sends until its signal aborts would block the process
    this.#sent = new Promise((resolve) => this.#ws.send(text, resolve));
  }

  async drained(maxUnsent: number): Promise<void> {
    if (this.#ws.bufferedAmount > maxUnsent) await raceAbort(this.#sent, this.signal).catch(ignore);
  }

  close(code: number, reason?: string): void {
    if (!this.#isOpen) return;
    this.#closeCode = code;
    this.#ws.close(code, reason);
    this.#end();
  }

  /**
   * Sends pings. Closes the socket if the client is gone, does not read or does not complete a message, or if its API
   * key no longer permits the session.
   */
  check(): void {
    if (!this.#isOpen) return;
    if (!this.#isAllowed()) return this.close(1008, 'The API key no longer permits this session.');
    if (this.#isStalled()) return this.close(1013, 'The client does not read.');
    if (this.#isLate()) return this.close(1008, 'A message was not complete after 30 s.');
    this.#checks += 1;
    if (this.#checks % checksPerPing > 0 || this.#ws.isPaused) return; // a paused socket cannot receive a pong
    if (this.#missedPongs >= maxMissedPongs) return this.#ws.terminate();
    this.#missedPongs += 1;
    this.#ws.ping();
  }

  get #isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  async *#read(): AsyncGenerator<SocketMessage> {
    let resumedAt = performance.now();
    while (!this.signal.aborted) {
      const isLong = performance.now() - resumedAt > sliceMs;
      const message = isLong ? undefined : this.#received.shift();
      if (message) {
        yield message;
        continue;
      }
      await (isLong ? nextTurn() : this.#nextReceived());
      resumedAt = performance.now();
    }
  }

  async #nextReceived(): Promise<void> {
    const received = new Promise<void>((resolve) => (this.#onReceived = resolve));
    this.#ws.resume();
    await received;
  }

  /**
   * Pauses the socket for a turn of the event loop. Otherwise, Node.js would keep reading pongs, and messages after the
   * end, up to 2 MB at once.
   */
  #yield(): void {
    this.#socket.pause();
    void nextTurn().then(() => {
      if (!this.#ws.isPaused) this.#ws.resume();
    });
  }

  /** May be called several times while paused, because bytes that were already read may contain several messages. */
  #receive(text: string | undefined): void {
    if (this.signal.aborted) return;
    this.#missedPongs = 0;
    this.#incomplete = 0;
    this.#received.push({ text });
    this.#ws.pause();
    this.#onReceived();
  }

  /** From now on, discards everything that arrives until the client has confirmed the close. */
  #end(): void {
    if (this.signal.aborted) return;
    this.#ended.abort(new Error('the socket has closed'));
    this.#received.length = 0;
    this.#ws.resume();
    this.#onReceived();
  }

  #isStalled(): boolean {
    const accepted = acceptedBytes(this.#socket);
    this.#stalled = this.#socket.writableLength > 0 && accepted === this.#accepted ? this.#stalled + 1 : 0;
    this.#accepted = accepted;
    return this.#stalled >= stalledChecks;
  }

  /** A paused socket is never late, because it is not waiting for the client. */
  #isLate(): boolean {
    this.#incomplete = isReceiving(this.#ws) && !this.#ws.isPaused ? this.#incomplete + 1 : 0;
    return this.#incomplete >= incompleteChecks;
  }
}

/** Internal state of ws that it does not expose. */
interface Receiver {
  /** 0 between frames. */
  readonly _state: number;
  /** The opcode of a message whose last fragment has not arrived yet, otherwise 0. */
  readonly _fragmented: number;
  readonly _bufferedBytes: number;
}

/** Whether a message has arrived only in part. */
function isReceiving(ws: WebSocket): boolean {
  const { _receiver: receiver } = ws as WebSocket & { readonly _receiver?: Receiver };
  if (!receiver) return false;
  return receiver._state !== 0 || receiver._fragmented !== 0 || receiver._bufferedBytes > 0;
}
