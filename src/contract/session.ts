/** The interface between a WebSocket and the operation that serves it. */
import type { Logger } from '../../engines/contract/index.ts';

/** An accepted WebSocket, in the form that a session uses. */
export interface TextSocket {
  /**
   * The messages in order of arrival. The socket is not read while a message is being handled, and every few
   * milliseconds the next message waits until timers and other sockets have had their turn. A binary message has no
   * text. The iteration ends when the socket closes.
   */
  readonly messages: AsyncIterable<SocketMessage>;
  /** Queues the text for sending without waiting; order is preserved. Does nothing after the socket has closed. */
  send(text: string): void;
  /**
   * Resolves when at most `maxUnsent` bytes are unsent or the socket has closed; 30 s without progress closes it with
   * 1013. Await this in long sequences of sends and before reading the next message, so that a client that does not
   * read cannot exhaust memory.
   */
  drained(maxUnsent: number): Promise<void>;
  close(code: number, reason?: string): void;
  /** Aborts when either side closes the socket. */
  readonly signal: AbortSignal;
}

export interface SocketMessage {
  readonly text: string | undefined;
}

/** A request to open a WebSocket. */
export interface Connecting {
  /** The request id, as in `X-Request-Id`. */
  readonly id: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /**
   * The session configuration of the client secret that authenticates the request; undefined without a client secret.
   */
  readonly session: object | undefined;
  readonly log: Logger;
  /** Whether every sent event is validated against the contract. */
  readonly checkAnswers: boolean;
}

/** The place that a session takes; the service limits their number. */
export interface SessionPlace {
  /** Aborts after DRAIN_DELAY. A session that is idle, or becomes idle, then closes its socket with 1012. */
  readonly closing: AbortSignal;
  /**
   * Aborts a few seconds before the shutdown ends all requests, so that the session can transcribe what was said so
   * far.
   */
  readonly concluding: AbortSignal;
  /** Reports the state of the session to the service. */
  report(state: SessionState): void;
  /** Call this when a turn has been transcribed or has failed. Counts the turn for the log line and the metrics. */
  turnEnded(audioMs: number): void;
  /** Call this when a response begins. Counts it for the log line. */
  responseBegan(): void;
  /** Call this when audio of a response has been sent. Counts its length for the log line. */
  spoke(ms: number): void;
  /** Call this when the user speaks while an answer is playing. Counts this for the log line and the metrics. */
  answerInterrupted(): void;
}

export interface SessionState {
  /** Whether the session could end now without losing anything. If so, another session may take its place. */
  readonly isIdle: boolean;
  /** Id of the model in use. The session ends when its API key may no longer use this model. */
  readonly model: string;
  /**
   * Operations of the native contract. The session ends when its API key may no longer use any of them. Defaults to the
   * permissions of the operation that opened the session.
   */
  readonly operations?: readonly string[];
}

/** Runs a session. The socket is closed when the promise resolves. */
export type RunSession = (socket: TextSocket, place: SessionPlace) => Promise<void>;

/** Runs before the upgrade, in the scope of the request. May reject with the same errors as a handler. */
export type Connect<Services> = (connecting: Connecting, services: Services) => RunSession | Promise<RunSession>;
