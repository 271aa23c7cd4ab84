/** Reads an event stream over a socket of its own, and holds each event against generated/openapi.json. */
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ajvOptions } from '../../lib/ajv-options.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import { heldToContract, toHeaders, type Answer } from './http.ts';

const ajv = new Ajv2020(ajvOptions);
addFormats.default(ajv);
const contract = readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8');
ajv.addSchema(JSON.parse(contract) as object, 'contract');

interface AnyEvent {
  readonly type: string;
  readonly seq: number;
}

export interface OpenStream<Event> extends Disposable {
  readonly status: number;
  readonly headers: Headers;
  /** What has been read so far. */
  readonly text: string;
  readonly events: readonly Event[];
  /** How many comments there were. */
  readonly comments: number;
  /** Stops reading, so that the socket fills up; and reads on. */
  pause(): void;
  resume(): void;
  /** Reads to the end; rejects when the connection breaks before. */
  all(): Promise<readonly Event[]>;
  /** Leaves. */
  close(): void;
}

export interface StreamCall {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface StreamReader<Event> {
  /** Resolves when the head of the answer is there. */
  open(url: string, call: StreamCall): Promise<OpenStream<Event>>;
  /** The whole stream, held to the contract: its events, none when its answer is a problem instead. */
  read(url: string, call: StreamCall): Promise<{ readonly answer: Answer; readonly events: readonly Event[] }>;
}

/** For the stream at the path, whose events are those of the schema. */
export function streamReader<Event extends AnyEvent>(path: string, schema: keyof Schemas): StreamReader<Event> {
  const isEvent = ajv.getSchema(`contract#/components/schemas/${schema}`)!;

  async function open(url: string, { body, headers, signal }: StreamCall): Promise<OpenStream<Event>> {
    const sending = request(`${url}${path}`, { method: 'POST', agent: false, headers, ...(signal && { signal }) });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sending.once('response', resolve).once('error', reject).end(body);
    });
    return readResponse(response, (message) => toEvent(message, isEvent) as Event);
  }

  return {
    open,
    async read(url, call) {
      using stream = await open(url, call);
      const events = await stream.all();
      return { answer: heldToContract({ method: 'POST', path }, stream), events };
    },
  };
}

function readResponse<Event>(
  response: IncomingMessage,
  parse: (message: EventSourceMessage) => Event,
): OpenStream<Event> {
  let text = '';
  let comments = 0;
  let failure: Error | undefined;
  const events: Event[] = [];
  const parser = createParser({
    onEvent: (message) => {
      try {
        events.push(parse(message));
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

function toEvent({ event, id, data }: EventSourceMessage, isEvent: ValidateFunction): AnyEvent {
  const told = JSON.parse(data) as AnyEvent;
  if (!isEvent(told)) throw new Error(`${data} breaks the contract: ${ajv.errorsText(isEvent.errors)}`);
  if (event !== told.type || id !== String(told.seq)) throw new Error(`event: ${event}, id: ${id} of ${data}`);
  return told;
}
