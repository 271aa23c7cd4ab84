/** The interface between a WebSocket and the operation that serves it. */
import type { Logger } from '../../engines/contract/index.ts';

/** One accepted WebSocket, as a session sees it. */
export interface TextSocket {
  /**
   * The messages in order of arrival. The socket is not read while one is handled, and after some milliseconds the next
   * one waits for timers and other sockets. A binary message has no text. Ends when the socket closes.
   */
  readonly messages: AsyncIterable<SocketMessage>;
  /** Sends the text after those before it, without waiting. Nothing is sent after the end. */
  send(text: string): void;
  /**
   * Resolves when at most `maxUnsent` bytes are unsent, or the socket has closed: 30 s without progress close it with 1013.
   * Await it between sends without end, and before you read on: a client that does not read cannot fill the memory.
   */
  drained(maxUnsent: number): Promise<void>;
  close(code: number, reason?: string): void;
  /** Aborts when the socket closes, whoever closes it. */
  readonly signal: AbortSignal;
}

export interface SocketMessage {
  readonly text: string | undefined;
}

/** A request for a WebSocket. */
export interface Connecting {
  /** The request id, as in `X-Request-Id`. */
  readonly id: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The session of the client secret with which the request authenticates; undefined without one. */
  readonly session: object | undefined;
  readonly log: Logger;
  /** Whether every sent event is validated against the contract. */
  readonly checkAnswers: boolean;
}

/** The place of a session among those of the service. */
export interface SessionPlace {
  /** Aborts when the service shuts down. A session that is idle, or becomes idle, then closes its socket with 1012. */
  readonly draining: AbortSignal;
  /** Aborts some seconds before the shutdown ends all requests: the time to transcribe what has been said. */
  readonly concluding: AbortSignal;
  /** Tells the service what it needs to know of the session. */
  report(state: SessionState): void;
  /** Records a turn when it is transcribed or fails, for the log line and the metrics. */
  turnEnded(audioMs: number): void;
}

export interface SessionState {
  /** Whether the session could end now without a loss: another session may take its place then. */
  readonly isIdle: boolean;
  /** Id of the model in use. The session ends when its key may no longer use that model. */
  readonly model: string;
}

/** Runs a session. When it returns, the socket is closed. */
export type RunSession = (socket: TextSocket, place: SessionPlace) => Promise<void>;

/** Runs before the upgrade, in the scope of the request. May throw, as a handler. */
export type Connect<Services> = (connecting: Connecting, services: Services) => RunSession;
