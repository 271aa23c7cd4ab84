/** A connection on which a test writes HTTP by hand. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { heldToContract, type Answer } from '../../support/http.ts';
import { parseAnswer } from './raw-answer.ts';

export interface RawConnection extends Disposable {
  /** Resolves when there is room for more. */
  send(text: string | Buffer): Promise<void>;
  /** Everything that has come so far. */
  readonly received: string;
  /** The next answer (after any 100 Continue), held against the contract. */
  answer(method: string, path: string): Promise<Answer>;
  readonly isOpen: boolean;
  /** Sends a FIN, and continues to read. */
  halfClose(): void;
  /** Stops reading, so that the sockets fill up; and reads on. */
  pause(): void;
  resume(): void;
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>;
}

/** `localAddress`: whom the service takes the caller for; all of 127.0.0.0/8 is ours on Linux. */
export async function connectRaw(
  url: string,
  { localAddress }: { localAddress?: string } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress !== undefined && { localAddress }) });
  await once(socket, 'connect');
  let received = '';
  let unread = '';
  socket.setEncoding('utf8').on('data', (text: unknown) => {
    received += String(text);
    unread += String(text);
  });
  socket.on('error', () => undefined); // a reset is an end, too
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const whicheverFirst = async (event: string) => {
    const stop = new AbortController();
    await Promise.race([once(socket, event, { signal: stop.signal }).catch(() => undefined), closed]);
    stop.abort();
  };
  return {
    async send(text) {
      if (socket.writable && !socket.write(text)) await whicheverFirst('drain');
    },
    get received() {
      return received;
    },
    async answer(method, path) {
      let found;
      while (!(found = parseAnswer(unread))) {
        if (socket.closed) throw new Error(`the connection ended without an answer: ${received}`);
        await whicheverFirst('data');
      }
      unread = found.rest;
      return heldToContract({ method, path }, found);
    },
    get isOpen() {
      return !socket.closed;
    },
    halfClose: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** The head of a request, with the empty line that ends it. */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
