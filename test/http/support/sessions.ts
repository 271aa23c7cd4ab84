/** Sessions of a test's own at `GET /v1/realtime`, and clients for them. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import type { Connect, Connecting, SessionPlace, TextSocket } from '../../../src/contract/session.ts';
import type { Services } from '../../../src/handlers/dependencies.ts';
import { openaiOperations } from '../../../src/openai/index.ts';
import { recordUpgrade } from '../../contract/coverage/recorder.ts';
import { heldToContract, toHeaders, type Answer } from '../../support/http.ts';

/** Each session of the file runs `run`; by default it sends back what it receives, and `binary` for a binary message. */
export function useSessions(
  run: (socket: TextSocket, place: SessionPlace, connecting: Connecting) => Promise<void> = echo,
): void {
  const row = openaiOperations.connectRealtime as { connect?: Connect<Services> };
  const own = row.connect!;
  beforeAll(() => {
    row.connect = (connecting) => (socket, place) => {
      place.report({ isIdle: true, model: 'mine' });
      return run(socket, place, connecting);
    };
  });
  afterAll(() => {
    row.connect = own;
  });
}

const megabyte = 1_048_576;

export async function echo(socket: TextSocket, { closing }: SessionPlace): Promise<void> {
  closing.addEventListener('abort', () => socket.close(1012));
  for await (const { text } of socket.messages) {
    socket.send(text ?? 'binary');
    await socket.drained(megabyte);
  }
}

export const socketUrl = ({ url }: { readonly url: string }, path = '/v1/realtime?intent=transcription') =>
  `${url.replace(/^http/, 'ws')}${path}`;

export interface Client {
  readonly ws: WebSocket;
  /** Resolves with the next message. */
  next(): Promise<string>;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
}

interface ConnectOptions extends ClientOptions {
  /** The name in the certificate. */
  readonly servername?: string;
  readonly path?: string;
  readonly protocols?: readonly string[];
}

/** Connects; rejects with the status if the service refuses. */
export async function connect(
  service: { readonly url: string },
  { path, protocols = [], ...options }: ConnectOptions = {},
): Promise<Client> {
  const ws = new WebSocket(socketUrl(service, path), [...protocols], options);
  onTestFinished(() => ws.terminate());
  const messages: string[] = [];
  let wake = (): void => undefined;
  ws.on('message', (data: Buffer) => {
    messages.push(data.toString());
    wake();
  });
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  await once(ws, 'open');
  recordUpgrade('/v1/realtime', 101);
  ws.on('error', () => undefined);
  return {
    ws,
    closed,
    async next() {
      while (messages.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return messages.shift()!;
    },
  };
}

export const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};

/** Asks for an upgrade; resolves with the answer of HTTP, or rejects if the service accepts. */
export async function refusal(
  { url }: { readonly url: string },
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/realtime',
): Promise<Answer> {
  const sending = request(`${url}${path}`, { headers: { ...upgradeHeaders, ...headers } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve).once('error', reject);
    sending.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('the service has accepted the upgrade'));
    });
    sending.end();
  });
  const text = (await buffer(response)).toString();
  const answer = { status: response.statusCode ?? 0, headers: toHeaders(response.rawHeaders), text };
  recordUpgrade(path, answer.status);
  return heldToContract({ method: 'GET', path }, answer);
}

/** The same request as text. */
export function upgradeRequest(path = '/v1/realtime'): string {
  const headers = Object.entries({ host: 'localhost', ...upgradeHeaders });
  return `GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
