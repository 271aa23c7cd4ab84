/**
 * Reads event streams (WHATWG server-sent events) and checks them against the contract: events are numbered, and
 * nothing follows the last event.
 */
import { ParlanceError } from './errors.ts';
import { createEventParser } from './event-data.ts';
import type { EventShapes } from './shapes.ts';

/** An event of any type: the service may be newer than this client. */
interface AnyEvent {
  readonly type: string;
  readonly seq: number;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** How long the connection may stay open after the last event before the client closes it. */
const closeTimeoutMs = 1_000;

/**
 * Skips events of unknown types. Yields the last event once the stream has ended, or after `closeTimeoutMs`. Breaking
 * out of the loop closes the connection. `first`: the number of the first event. Throws a `ParlanceError` with the code
 * `stream-broken`, or the signal's abort reason.
 */
export async function* readEvents<Event extends AnyEvent>(
  body: ReadableStream<Uint8Array>,
  shapes: EventShapes<Event>,
  signal: AbortSignal | undefined,
  first = 0,
): AsyncGenerator<Event, void, undefined> {
  const isKnown = (event: AnyEvent): event is Event => Object.hasOwn(shapes, event.type);
  const reader: Reader = body.getReader();
  const events = parse(reader);
  try {
    for (let expected = first; ; expected++) {
      const { value: event } = await events.next();
      signal?.throwIfAborted();
      if (!event) throw broken('The stream ended before its last event.');
      if (event.seq !== expected) throw broken(`Expected event ${expected}, received event ${event.seq}.`);
      if (!isKnown(event)) continue;
      if (!shapes[event.type as Event['type']](event)) throw broken(`An event of the type ${event.type} is invalid.`);
      const isLast = /\.(?:completed|failed)$/.test(event.type);
      if (isLast) await expectEnd(events);
      yield event;
      if (isLast) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ParlanceError ? error : broken('The connection broke before the last event.', error);
  } finally {
    await reader.cancel().catch(() => undefined); // a broken stream cannot be canceled
  }
}

async function* parse(reader: Reader): AsyncGenerator<AnyEvent, undefined> {
  const decoder = new TextDecoder();
  const parseNext = createEventParser();
  for (;;) {
    const { value, done } = await reader.read();
    const text = done ? '\n\n' : decoder.decode(value, { stream: true }); // the last event may lack its blank line
    for (const data of parseNext(text)) yield toEvent(data);
    if (done) return undefined;
  }
}

function toEvent(data: string): AnyEvent {
  let event: Partial<AnyEvent> | null;
  try {
    event = JSON.parse(data) as typeof event;
  } catch (cause) {
    throw broken('An event of the stream is not JSON.', cause);
  }
  if (typeof event?.type !== 'string' || typeof event.seq !== 'number') {
    throw broken('An event of the stream has no type or no sequence number.');
  }
  return event as AnyEvent;
}

/** A connection that breaks after the last event is not an error. */
async function expectEnd(events: AsyncGenerator<AnyEvent, undefined>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeTimeoutMs);
  });
  const following = events.next().then(
    ({ value }) => value,
    () => undefined,
  );
  const event = await Promise.race([following, timeout]);
  clearTimeout(timer);
  if (event) throw broken(`Received ${event.type} after the last event.`);
}

function broken(detail: string, cause?: unknown): ParlanceError {
  return new ParlanceError('stream-broken', detail, { cause });
}
