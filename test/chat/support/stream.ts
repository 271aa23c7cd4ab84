/** Reads a chat's stream. */
import type { Schemas } from '../../../src/contract/operations.ts';
import type { Answer } from '../../support/http.ts';
import { streamReader, type OpenStream } from '../../support/open-stream.ts';

export type ChatEvent = Schemas['ChatEvent'];
export type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { type: Type }>;

const reader = streamReader<ChatEvent>('/api/v1/chat/stream', 'ChatEvent');

interface Call {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

const toCall = (body: object, { headers, ...call }: Call) => ({
  ...call,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Resolves when the head of the answer is there. */
export function openStream(url: string, body: object, call: Call = {}): Promise<OpenStream<ChatEvent>> {
  return reader.open(url, toCall(body, call));
}

/** The whole stream, held to the contract: its events, none when its answer is a problem instead. */
export function readStream(
  url: string,
  body: object,
): Promise<{ readonly answer: Answer; readonly events: readonly ChatEvent[] }> {
  return reader.read(url, toCall(body, {}));
}
