/**
 * Tracks connections: enforces the limit, evicts connections, and handles stalled readers, parse errors and pipelining.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../../engines/contract/index.ts';
import { callerOfAddress } from '../../request-scope.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { ProblemError } from '../../contract/problems.ts';
import type { ApiFormat } from '../api-format.ts';
import { breakRequest } from '../body/receive.ts';
import { acceptedBytes } from '../socket/progress.ts';
import { safeListener, safeSharedListener } from '../socket/safe-listener.ts';
import { answerOnSocket } from './raw-response.ts';

export interface ConnectionOptions {
  readonly log: Logger;
  /** Returns the API format for a request target, used for requests that fail before they begin. */
  readonly formatFor: (target: string) => ApiFormat;
  /** Maximum number of connections. */
  readonly limit: number;
  /** Timeout in milliseconds for a client that does not read its response. */
  readonly stalledMs: number;
  readonly metrics?: Metrics | undefined;
}

/**
 * `waiting`: no request yet. `busy`: responses are pending. `idle`: keep-alive. `upgraded`: a WebSocket, or a request
 * for one. `closing`: the last response has been sent, and further input is discarded, because closing with unread
 * bytes would reset the connection.
 */
type State = 'waiting' | 'busy' | 'idle' | 'upgraded' | 'closing';

interface Connection {
  /** With TLS, the raw TCP socket until the handshake completes. */
  socket: Socket;
  readonly address: string;
  state: State;
  /** Requests in flight; more than one with pipelining. */
  inFlight: number;
  /** Start functions of the pipelined requests that are waiting for their turn. */
  readonly pipelined: (() => void)[];
  /** The response to the last request, until that request has been read and answered. */
  latest?: ServerResponse | undefined;
  /** A counter that changes whenever the client reads from the connection. */
  mark: number;
  /** Number of sweeps since `mark` last changed, or since the connection started closing. */
  still: number;
  /** True after a parse error; further input is ignored. */
  isUnreadable: boolean;
  /** A problem to send after the pending responses. */
  refusal?: Refusal;
}

interface Refusal {
  readonly problem: ProblemError;
  /** The request target, if known. */
  readonly target?: string | undefined;
  /** Additional fields of the access log line. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Connections of one address, not counting those in state `closing`. */
interface AddressConnections {
  count: number;
  /** Connections in state `waiting`, oldest first. */
  readonly waiting: Set<Connection>;
  readonly idle: Set<Connection>;
}

/** Maximum number of pipelined requests that may wait per connection. Only attacks and tests pipeline in practice. */
const maxPipelined = 16;
/** Maximum number of connections in state `closing`, on top of the limit. */
const maxClosing = 32;
/** Timeout of a stalled reader, counted in sweeps, so that a blocked event loop does not look like a stalled reader. */
const stalledSweeps = 12;
/** Number of sweeps before a closing connection is destroyed: 5 to 10 s with the default timeout. */
const closingSweeps = 2;

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #byAddress = new Map<string, AddressConnections>();
  /** Connections by state, in the order in which they entered it. */
  readonly #in: Readonly<Record<State, Set<Connection>>> = {
    waiting: new Set(),
    busy: new Set(),
    idle: new Set(),
    upgraded: new Set(),
    closing: new Set(),
  };
  readonly #onAnswered: (this: ServerResponse) => void;
  readonly #onHalfClosed: (this: Socket) => void;
  readonly #onClosed: (this: Socket) => void;
  readonly #sinceSweep = { closed: 0, refused: 0 };
  #isDraining = false;
  #isEnding = false;

  constructor(server: Server, options: ConnectionOptions) {
    this.#options = options;
    const { log, stalledMs } = options;
    server.on(
      'connection',
      safeListener(log, (socket: Socket) => this.#open(socket)),
    );
    server.on(
      'secureConnection',
      safeListener(log, (socket: TLSSocket) => this.#secured(socket)),
    );
    server.on(
      'clientError',
      safeListener(log, (error: ParseError, socket: Duplex) => this.#fail(error, socket)),
    );
    const act = (socket: Socket, then: (connection: Connection) => void) => {
      const connection = this.#bySocket.get(socket);
      if (connection) then(connection);
    };
    this.#onAnswered = safeSharedListener(log, ({ req }) =>
      act(req.socket, (connection) => this.#answered(connection)),
    );
    this.#onHalfClosed = safeSharedListener(log, (socket) => act(socket, (connection) => this.#halfClosed(connection)));
    this.#onClosed = safeSharedListener(log, (socket) => act(socket, (connection) => this.#forget(connection)));
    const sweep = safeListener(log, () => this.#sweep());
    const timer = setInterval(sweep, stalledMs / stalledSweeps).unref();
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Starts a request once the previous one on the same connection has been answered, because pipelining would otherwise
   * bypass the limits on concurrency. The request is dropped if the connection is closing.
   */
  begin(res: ServerResponse, start: () => void): void {
    const connection = this.#bySocket.get(res.req.socket);
    if (connection === undefined || connection.state === 'closing') return;
    if (connection.pipelined.length >= maxPipelined) {
      this.#options.log.debug({ address: connection.address }, 'closed a connection with too many pipelined requests');
      connection.socket.destroy();
      return;
    }
    connection.inFlight += 1;
    connection.latest = res;
    this.#move(connection, 'busy');
    if (this.#isDraining) res.shouldKeepAlive = false;
    res.on('close', this.#onAnswered);
    if (connection.inFlight === 1) start();
    else connection.pipelined.push(start);
  }

  /** Hands the connection over to `serve`, which must not reject, and closes it when `serve` resolves. */
  upgrade(socket: Duplex, target: string | undefined, serve: () => Promise<void>): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.state === 'closing') {
      socket.destroy();
    } else if (connection.inFlight > 0) {
      this.refuse(socket, { problem: notAlone, target });
    } else {
      this.#move(connection, 'upgraded');
      void serve().then(() => {
        if (this.#bySocket.has(socket)) this.#close(connection);
      });
    }
  }

  /** Sends the problem on the raw socket, after the pending responses, and closes the connection. */
  refuse(socket: Duplex, refusal: Refusal): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) {
      socket.destroy();
    } else if (connection.inFlight > 0) {
      connection.refusal = refusal;
    } else {
      const { log, formatFor, metrics } = this.#options;
      const { problem, facts, target = '' } = refusal;
      answerOnSocket(socket, problem, { log, format: formatFor(target), facts, metrics });
      this.#close(connection);
    }
  }

  /** From now on, each connection is closed after the response to its next request. */
  drain(): void {
    this.#isDraining = true;
  }

  /**
   * Immediately closes connections without a request, and the others after their responses. Sessions close their own
   * connections.
   */
  end(): void {
    this.drain();
    this.#isEnding = true;
    for (const { socket, inFlight, state } of this.#bySocket.values()) {
      if (inFlight === 0 && state !== 'upgraded') socket.destroy();
    }
  }

  /** Destroys all connections. Node's own list does not include connections that sent CONNECT. */
  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  #open(socket: Socket): void {
    const { limit } = this.#options;
    const address = callerOfAddress(socket.remoteAddress);
    const connection: Connection = {
      socket,
      address,
      state: 'waiting',
      inFlight: 0,
      pipelined: [],
      mark: 0,
      still: 0,
      isUnreadable: false,
    };
    this.#bySocket.set(socket, connection);
    this.#in.waiting.add(connection);
    const connections = this.#byAddress.get(address) ?? { count: 0, waiting: new Set(), idle: new Set() };
    this.#byAddress.set(address, connections);
    connections.count += 1;
    connections.waiting.add(connection);
    socket.on('close', this.#onClosed).on('end', this.#onHalfClosed);
    if (this.#bySocket.size - this.#in.closing.size > limit) this.#makeRoom(connection);
  }

  /** Replaces the socket of a connection after its TLS handshake. */
  #secured(socket: TLSSocket): void {
    const { _parent: raw } = socket as TLSSocket & { readonly _parent?: Socket };
    const connection = raw && this.#bySocket.get(raw);
    if (raw === undefined || connection === undefined) return void socket.destroy();
    this.#bySocket.delete(raw);
    connection.socket = socket;
    this.#bySocket.set(socket, connection);
    socket.on('close', this.#onClosed).on('end', this.#onHalfClosed);
  }

  #move(connection: Connection, state: State): void {
    this.#leave(connection);
    connection.state = state;
    this.#in[state].add(connection);
    if (state === 'idle') this.#byAddress.get(connection.address)?.idle.add(connection);
  }

  #close(connection: Connection): void {
    if (connection.state !== 'closing') this.#release(connection.address);
    this.#move(connection, 'closing');
    connection.still = 0;
    const [oldest] = this.#in.closing;
    if (oldest && this.#in.closing.size > maxClosing) this.#drop(oldest);
  }

  /** Frees the slot immediately, before the socket's `close` event. */
  #drop(connection: Connection): void {
    this.#forget(connection);
    connection.socket.destroy();
  }

  #forget(connection: Connection): void {
    if (!this.#bySocket.delete(connection.socket)) return;
    const { address, state } = connection;
    this.#leave(connection);
    if (state !== 'closing') this.#release(address);
  }

  #leave(connection: Connection): void {
    const { address, state } = connection;
    this.#in[state].delete(connection);
    if (state === 'waiting' || state === 'idle') this.#byAddress.get(address)?.[state].delete(connection);
  }

  #release(address: string): void {
    const connections = this.#byAddress.get(address);
    if (connections === undefined) return;
    connections.count -= 1;
    if (connections.count === 0) this.#byAddress.delete(address);
  }

  #answered(connection: Connection): void {
    const { socket, latest, refusal } = connection;
    connection.inFlight -= 1;
    if (latest?.req.complete) connection.latest = undefined;
    if (socket.destroyed) return;
    if (connection.inFlight > 0) {
      connection.pipelined.shift()?.();
      return;
    }
    if (this.#isEnding) socket.destroySoon();
    else if (refusal) this.refuse(socket, refusal);
    else if (connection.isUnreadable) this.#close(connection);
    else this.#move(connection, 'idle');
  }

  /** Treats a FIN as a disconnect, because a half-close looks like a full close. A complete response is still sent. */
  #halfClosed({ socket, inFlight, latest }: Connection): void {
    if (inFlight > 1 || (inFlight === 1 && latest?.writableEnded !== true)) socket.destroy();
  }

  /**
   * Evicts a connection of the address with the most connections: preferably one without a request, then an idle one,
   * then the newest busy one, then the newest WebSocket. An address never evicts connections of an address that has
   * fewer; otherwise a client that keeps opening connections would close everyone else's.
   */
  #makeRoom(newcomer: Connection): void {
    const own = this.#byAddress.get(newcomer.address)?.count ?? 0;
    const victim =
      this.#oldest('waiting', own, newcomer) ?? this.#oldest('idle', own, newcomer) ?? this.#newestBusy(own);
    if (victim) {
      this.#sinceSweep.closed += 1;
      this.#drop(victim);
    } else {
      this.#sinceSweep.refused += 1;
      this.refuse(newcomer.socket, { problem: tooMany });
    }
  }

  /**
   * Returns the oldest connection in this state, from the address with the most connections; undefined if that address
   * has fewer than `least`.
   */
  #oldest(state: 'waiting' | 'idle', least: number, newcomer: Connection): Connection | undefined {
    let found: Connection | undefined;
    let most = least - 1;
    for (const connections of this.#byAddress.values()) {
      if (connections.count <= most) continue;
      const [first, second] = connections[state];
      const oldest = first === newcomer ? second : first;
      if (oldest === undefined) continue;
      found = oldest;
      most = connections.count;
    }
    return found;
  }

  /**
   * Returns the newest busy or upgraded connection, because evicting it loses the least work; undefined if no address
   * has more connections than `own`.
   */
  #newestBusy(own: number): Connection | undefined {
    const most = [...this.#byAddress.values()].reduce((highest, { count }) => Math.max(highest, count), own);
    if (most <= own) return undefined;
    return [...this.#in.upgraded, ...this.#in.busy].findLast(
      ({ address }) => this.#byAddress.get(address)?.count === most,
    );
  }

  /** Handles a parse error or a timeout of the request head. */
  #fail(error: ParseError, socket: Duplex): void {
    const connection = this.#bySocket.get(socket);
    if (connection?.state === 'closing' || connection?.isUnreadable) return; // already handled
    const problem = connection && problemOf(error, connection);
    if (connection === undefined || problem === undefined) {
      this.#options.log.debug({ err: error }, 'closed a connection that cannot receive a response');
      socket.destroy();
      return;
    }
    connection.isUnreadable = true;
    const { latest } = connection;
    if (latest?.req.complete === false && breakRequest(latest.req, problem)) latest.shouldKeepAlive = false;
    else this.refuse(socket, { problem, target: targetOf(error), facts: { reason: error.code } });
  }

  #sweep(): void {
    const { log, limit } = this.#options;
    for (const connection of this.#in.busy) {
      if (!isStalled(connection)) continue;
      log.debug({ address: connection.address }, 'closed a connection with a stalled reader');
      connection.socket.destroy();
    }
    for (const connection of this.#in.closing) if (++connection.still >= closingSweeps) connection.socket.destroy();
    const { closed, refused } = this.#sinceSweep;
    if (closed + refused === 0) return;
    log.warn({ limit, closed, refused }, 'connection limit reached');
    Object.assign(this.#sinceSweep, { closed: 0, refused: 0 });
  }
}

const notAlone = new ProblemError(
  'malformed-request',
  'A request for a WebSocket must not be pipelined after other requests.',
);

const tooMany = new ProblemError('overloaded', 'Too many connections; try again in a moment.');

type ParseError = NodeJS.ErrnoException & { readonly reason?: string; readonly rawPacket?: Buffer };

/** Returns the request target if the packet that could not be parsed contains the request line. */
function targetOf({ rawPacket }: ParseError): string | undefined {
  return /^[A-Z]+ (\S{1,200})/.exec(rawPacket?.toString('latin1', 0, 300) ?? '')?.[1];
}

/** Returns undefined if no response is due or a response has already started. */
function problemOf({ code = '', reason }: ParseError, connection: Connection): ProblemError | undefined {
  const { socket, latest, inFlight } = connection;
  const isInBody = latest?.req.complete === false;
  if (isInBody && (inFlight === 0 || latest.headersSent || code === 'HPE_INVALID_EOF_STATE')) return undefined;
  if (socket.bytesRead === 0) return undefined; // a preconnect of a browser
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ProblemError('request-timeout', 'The request head did not arrive in time.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ProblemError('headers-too-large', 'The request head exceeds 16 KB.');
  }
  if (!code.startsWith('HPE_')) return undefined; // this is a connection error
  return new ProblemError('malformed-request', `The request cannot be parsed${reason ? `: ${reason}` : ''}.`);
}

function isStalled(connection: Connection): boolean {
  const { socket } = connection;
  const mark = acceptedBytes(socket);
  connection.still = socket.writableLength > 0 && mark === connection.mark ? connection.still + 1 : 0;
  connection.mark = mark;
  return connection.still >= stalledSweeps;
}
