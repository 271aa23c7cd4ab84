/** The server's connections: their limit, which one is closed at the limit, stalled readers, unparsable requests. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../engines/contract/index.ts';
import { callerOfAddress } from '../caller.ts';
import { ProblemError } from '../contract/problems.ts';
import { breakRequest } from './break-request.ts';
import { guard } from './safe-listener.ts';
import { answerOnSocket } from './raw-response.ts';

export interface ConnectionOptions {
  readonly log: Logger;
  /** Connections at once. */
  readonly limit: number;
  /** Milliseconds after which a reader that takes nothing of its answer is cut off. */
  readonly stalledMs: number;
}

/**
 * `waiting`: no request yet. `busy`: answers are due. `idle`: kept alive. `closing`: the last answer has been sent;
 * what still arrives is read and dropped, since closing with unread bytes would reset the connection first.
 */
type State = 'waiting' | 'busy' | 'idle' | 'closing';

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  state: State;
  /** Requests whose answers have not been sent; more than one when the caller pipelines. */
  inFlight: number;
  /** Starts each of those that wait for the answers before theirs. */
  readonly pipelined: (() => void)[];
  /** The answer to the last request, until that has been read and answered. */
  latest?: ServerResponse | undefined;
  /** Changes whenever the reader takes something. */
  mark: number;
  /** Sweeps since the mark changed, or since the connection began to close. */
  still: number;
  /** The parser has failed: nothing that comes from now on is read. */
  isUnreadable: boolean;
  /** Sent after the answers that are due. */
  refusal?: Refusal;
}

interface Refusal {
  readonly problem: ProblemError;
  /** For the access log. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** The connections of one address, except those that are closing. */
interface Holder {
  count: number;
  /** Oldest first. */
  readonly waiting: Set<Connection>;
  readonly idle: Set<Connection>;
}

/** Requests of one connection that may wait for their turn. Only attacks and tests have been seen to pipeline. */
const maxPipelined = 16;
/** Connections beyond the limit that may be closing. */
const maxClosing = 32;
/** A stalled reader's timeout in sweeps: counted, so that a blocked event loop does not look like a stalled reader. */
const stalledSweeps = 12;
/** 5 to 10 s at the default timeout. */
const closingSweeps = 2;

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #holders = new Map<string, Holder>();
  /** Each in the order in which its connections came to it. */
  readonly #in: Readonly<Record<State, Set<Connection>>> = {
    waiting: new Set(),
    busy: new Set(),
    idle: new Set(),
    closing: new Set(),
  };
  readonly #sinceSweep = { closed: 0, refused: 0 };
  #isEnding = false;

  constructor(server: Server, options: ConnectionOptions) {
    this.#options = options;
    const { log, stalledMs } = options;
    server.on(
      'connection',
      guard(log, (socket: Socket) => this.#open(socket)),
    );
    server.on(
      'clientError',
      guard(log, (error: ParseError, socket: Duplex) => this.#fail(error, socket)),
    );
    const sweep = guard(log, () => this.#sweep());
    const timer = setInterval(sweep, stalledMs / stalledSweeps).unref();
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Starts a request when the one before it on the same connection has been answered: one connection never has two at
   * work, or a caller could have any number. It is dropped when its connection is closing: nobody would read the answer.
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
    if (this.#isEnding) res.shouldKeepAlive = false;
    const answered = () => this.#answered(connection);
    res.once('close', guard(this.#options.log, answered));
    if (connection.inFlight === 1) start();
    else connection.pipelined.push(start);
  }

  /** Answers with the problem on the bare socket, after the answers that are due there, and closes. */
  refuse(socket: Duplex, refusal: Refusal): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) {
      socket.destroy();
    } else if (connection.inFlight > 0) {
      connection.refusal = refusal;
    } else {
      answerOnSocket(socket, refusal.problem, { log: this.#options.log, facts: refusal.facts });
      this.#close(connection);
    }
  }

  /** Closes every connection without a request, and the others with their answers. */
  end(): void {
    this.#isEnding = true;
    for (const { socket, inFlight } of this.#bySocket.values()) if (inFlight === 0) socket.destroy();
  }

  /** Closes all of them; Node forgets a connection that has asked for a tunnel. */
  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  #open(socket: Socket): void {
    const { log, limit } = this.#options;
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
    const holder = this.#holders.get(address) ?? { count: 0, waiting: new Set(), idle: new Set() };
    this.#holders.set(address, holder);
    holder.count += 1;
    holder.waiting.add(connection);
    const forget = () => this.#forget(connection);
    const halfClosed = () => this.#halfClosed(connection);
    socket.once('close', guard(log, forget));
    socket.once('end', guard(log, halfClosed));
    if (this.#bySocket.size - this.#in.closing.size > limit) this.#makeRoom(connection);
  }

  #move(connection: Connection, state: State): void {
    this.#leave(connection);
    connection.state = state;
    this.#in[state].add(connection);
    if (state === 'idle') this.#holders.get(connection.address)?.idle.add(connection);
  }

  #close(connection: Connection): void {
    if (connection.state !== 'closing') this.#release(connection.address);
    this.#move(connection, 'closing');
    connection.still = 0;
    const [oldest] = this.#in.closing;
    if (oldest && this.#in.closing.size > maxClosing) this.#drop(oldest);
  }

  /** Its place is free at once, before the socket says that it is closed. */
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
    if (state === 'waiting' || state === 'idle') this.#holders.get(address)?.[state].delete(connection);
  }

  #release(address: string): void {
    const holder = this.#holders.get(address);
    if (holder === undefined) return;
    holder.count -= 1;
    if (holder.count === 0) this.#holders.delete(address);
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

  /** A FIN counts as a disconnect: it cannot be told from a full close. An answer that is complete still goes out. */
  #halfClosed({ socket, inFlight, latest }: Connection): void {
    if (inFlight > 1 || (inFlight === 1 && latest?.writableEnded !== true)) socket.destroy();
  }

  /**
   * One that has asked for nothing goes first, then an idle one, then the newest request of the address that holds the
   * most. An address never takes a place from one that holds fewer: a caller who opens connections all the time would
   * otherwise close everybody else's.
   */
  #makeRoom(newcomer: Connection): void {
    const own = this.#holders.get(newcomer.address)?.count ?? 0;
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

  /** The oldest in this state of the largest holder that has one; undefined when none of them holds at least `least`. */
  #oldest(state: 'waiting' | 'idle', least: number, newcomer: Connection): Connection | undefined {
    let found: Connection | undefined;
    let most = least - 1;
    for (const holder of this.#holders.values()) {
      if (holder.count <= most) continue;
      const [first, second] = holder[state];
      const oldest = first === newcomer ? second : first;
      if (oldest === undefined) continue;
      found = oldest;
      most = holder.count;
    }
    return found;
  }

  /** The one of which the least is lost; undefined when no address holds more than `own`. */
  #newestBusy(own: number): Connection | undefined {
    const most = [...this.#holders.values()].reduce((highest, { count }) => Math.max(highest, count), own);
    if (most <= own) return undefined;
    return [...this.#in.busy].findLast(({ address }) => this.#holders.get(address)?.count === most);
  }

  /** What Node could not parse, or did not get in time. */
  #fail(error: ParseError, socket: Duplex): void {
    const connection = this.#bySocket.get(socket);
    if (connection?.state === 'closing' || connection?.isUnreadable) return; // more of the same
    const problem = connection && problemOf(error, connection);
    if (connection === undefined || problem === undefined) {
      this.#options.log.debug({ err: error }, 'closed a connection that cannot be answered');
      socket.destroy();
      return;
    }
    connection.isUnreadable = true;
    const { latest } = connection;
    if (latest?.req.complete === false && breakRequest(latest.req, problem)) latest.shouldKeepAlive = false;
    else this.refuse(socket, { problem, facts: { reason: error.code } });
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

const tooMany = new ProblemError('overloaded', 'Too many connections; try again in a moment.');

type ParseError = NodeJS.ErrnoException & { readonly reason?: string };

/** Undefined where no answer is owed, or one has begun. */
function problemOf({ code = '', reason }: ParseError, connection: Connection): ProblemError | undefined {
  const { socket, latest, inFlight } = connection;
  const isInBody = latest?.req.complete === false;
  if (isInBody && (inFlight === 0 || latest.headersSent || code === 'HPE_INVALID_EOF_STATE')) return undefined;
  if (socket.bytesRead === 0) return undefined; // browsers open connections in advance
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ProblemError('request-timeout', 'The head of the request did not arrive in time.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ProblemError('headers-too-large', 'The head of the request is larger than 16 KB.');
  }
  if (!code.startsWith('HPE_')) return undefined; // the connection itself broke
  return new ProblemError('malformed-request', `The request cannot be parsed${reason ? `: ${reason}` : ''}.`);
}

function isStalled(connection: Connection): boolean {
  const { socket } = connection;
  const pending = socket.writableLength;
  // Not bytesWritten alone, which counts what waits in this process, too.
  const mark = socket.bytesWritten - pending - queuedInSystemCall(socket);
  connection.still = pending > 0 && mark === connection.mark ? connection.still + 1 : 0;
  connection.mark = mark;
  return connection.still >= stalledSweeps;
}

/** Bytes of the current write that the kernel has not taken yet: a slow reader may need minutes for a large one. */
function queuedInSystemCall(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
