/** Reads a chat's stream over a socket of its own, and holds each event against generated/openapi.json. */
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Schemas } from '../../../src/contract/operations.ts';
import { heldToContract, toHeaders, type Answer } from '../../support/http.ts';

export type ChatEvent = Schemas['ChatEvent'];
export type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { type: Type }>;

const path = '/api/v1/chat/stream';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const contract = readFileSync(new URL('../../../generated/openapi.json', import.meta.url), 'utf8');
ajv.addSchema(JSON.parse(contract) as object, 'contract');
const isChatEvent = ajv.getSchema('contract#/components/schemas/ChatEvent')!;

export interface OpenStream extends Disposable {
  readonly status: number;
  readonly headers: Headers;
  /** What has been read so far. */
  readonly text: string;
  readonly events: readonly ChatEvent[];
  /** How many comments there were. */
  readonly comments: number;
  /** Stops reading, so that the socket fills up; and reads on. */
  pause(): void;
  resume(): void;
  /** Reads to the end; rejects when the connection breaks before. */
  all(): Promise<readonly ChatEvent[]>;
  /** Leaves. */
  close(): void;
}

export interface StreamCall {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when the head of the answer is there. */
export async function openStream(url: string, body: object, call: StreamCall = {}): Promise<OpenStream> {
  const sending = request(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...call.headers },
    ...(call.signal && { signal: call.signal }),
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve).once('error', reject).end(JSON.stringify(body));
  });
  return read(response);
}

function read(response: IncomingMessage): OpenStream {
  let text = '';
  let comments = 0;
  let failure: Error | undefined;
  const events: ChatEvent[] = [];
  const parser = createParser({
    onEvent: (message) => {
      try {
        events.push(toChatEvent(message));
      } catch (error) {
        response.destroy(error as Error);
      }
    },
    onComment: () => comments++,
  });
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    parser.feed(piece);
  });
  response.on('error', (error) => (failure = error));
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  return {
    status: response.statusCode!,
    headers: toHeaders(response.rawHeaders),
    events,
    get text() {
      return text;
    },
    get comments() {
      return comments;
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    async all() {
      await closed;
      if (failure) throw failure;
      return events;
    },
    close: () => void response.destroy(),
    [Symbol.dispose]: () => void response.destroy(),
  };
}

function toChatEvent({ event, id, data }: EventSourceMessage): ChatEvent {
  const told = JSON.parse(data) as ChatEvent;
  if (!isChatEvent(told)) throw new Error(`${data} breaks the contract: ${ajv.errorsText(isChatEvent.errors)}`);
  if (event !== told.type || id !== String(told.seq)) throw new Error(`event: ${event}, id: ${id} of ${data}`);
  return told;
}

/** The whole stream, held to the contract: its events, none when its answer is a problem instead. */
export async function readStream(
  url: string,
  body: object,
): Promise<{ readonly answer: Answer; readonly events: readonly ChatEvent[] }> {
  using stream = await openStream(url, body);
  const events = await stream.all();
  return { answer: heldToContract({ method: 'POST', path }, stream), events };
}
