/** `@parlance/server/client`: a typed client for pages and for Node.js 22 and later. */
import createFetchClient from 'openapi-fetch';
import { rootOf } from './base-url.ts';
import type {
  ChatEvent,
  ChatRequest,
  ChatResult,
  ModelList,
  paths,
  SpeechModelList,
  SpeechRequest,
  Transcription,
  TranscriptionAvailability,
} from './contract.ts';
import { ParlanceError, unexpected } from './errors.ts';
import { readChatEvents } from './events.ts';
import { encodeForm } from './form.ts';
import { clipsOf, type Clip } from './links.ts';
import { toFilePart, type RecordingSource } from './recording.ts';
import { strict, type Fetch } from './transport.ts';

export type * from './contract.ts';
export type { ClientErrorCode } from './errors.ts';
export { ParlanceError };
export type { Clip, Fetch, RecordingSource };

export interface ClientOptions {
  /** URL of the service, such as `http://127.0.0.1:8484`, with or without `/api/v1`; default on a page: its origin. */
  readonly baseUrl?: string | URL;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** Default: the global `fetch` at the time of each call. */
  readonly fetch?: Fetch;
}

export interface CallOptions {
  /** Aborting it ends the call and the work behind it; the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface TranscribeOptions extends CallOptions {
  /** An id from `transcriptionModels`; absent: the service's default. */
  readonly model?: string;
  /** ISO 639-1, two letters; absent: it is detected. */
  readonly language?: string;
  /** In place of the File's own name or the path's last part. */
  readonly fileName?: string;
}

/** What a chat answers, and the clips that read_aloud made, in call order. */
export interface ChatAnswer extends ChatResult {
  readonly clips: readonly Clip[];
}

/**
 * Every method rejects with a `ParlanceError`, or with the signal's reason; a call that cannot be made at all (a file
 * that is not there, a key that no header can have) with a `TypeError`. Nothing is tried twice.
 */
export interface Client {
  transcribe(recording: RecordingSource, options?: TranscribeOptions): Promise<Transcription>;
  /** Whether that can work, free of charge. Of an unknown model too, this is an answer and no error. */
  transcriptionAvailability(options?: CallOptions & { readonly model?: string }): Promise<TranscriptionAvailability>;
  transcriptionModels(options?: CallOptions): Promise<ModelList>;
  chat(request: ChatRequest, options?: CallOptions): Promise<ChatAnswer>;
  /**
   * The events of a run; the last one is `chat.completed` or `chat.failed`, or the loop throws. The request goes out
   * with the first step of the loop; leaving it cancels the run.
   */
  streamChat(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;
  chatModels(options?: CallOptions): Promise<ModelList>;
  /** The answer once the first sound is there: read its `body` as it grows, or await its `blob()`. */
  speak(request: SpeechRequest, options?: CallOptions): Promise<Response>;
  speechModels(options?: CallOptions): Promise<SpeechModelList>;
}

const json = { Accept: 'application/json' };

/** Throws a `TypeError` when `baseUrl` is not the URL of a service. */
export function createClient({ baseUrl, apiKey, fetch = globalFetch }: ClientOptions = {}): Client {
  const root = rootOf(baseUrl);
  const http = createFetchClient<paths>({
    baseUrl: `${root}api/v1`,
    fetch: strict(fetch),
    ...(apiKey !== undefined && { headers: { Authorization: `Bearer ${apiKey}` } }),
  });

  return {
    async transcribe(recording, { model, language, fileName, signal } = {}) {
      const { body, contentType } = encodeForm({ model, language }, await toFilePart(recording, fileName));
      const headers = { ...json, 'Content-Type': contentType };
      const call = { headers, ...mannerOf(signal), body: { file: '' }, bodySerializer: () => body };
      return dataOf(http.POST('/transcribe', call), signal);
    },
    transcriptionAvailability: ({ model, signal } = {}) =>
      dataOf(
        http.GET('/transcribe', {
          headers: json,
          ...mannerOf(signal),
          params: { query: { ...(model !== undefined && { model }) } },
        }),
        signal,
      ),
    transcriptionModels: ({ signal } = {}) =>
      dataOf(http.GET('/transcribe/models', { headers: json, ...mannerOf(signal) }), signal),
    async chat(body, { signal } = {}) {
      const call = http.POST('/chat', { headers: json, ...mannerOf(signal), body });
      const { data, response } = await answerOf(call, signal);
      return { ...data, clips: clipsOf(response.headers.get('link'), root) };
    },
    async *streamChat(body, { signal } = {}) {
      const headers = { Accept: 'text/event-stream' };
      const { response } = await http.POST('/chat/stream', { headers, ...mannerOf(signal), body });
      if (!response.body) throw unexpected(response);
      for await (const event of readChatEvents(response.body, signal)) yield withAbsoluteUrl(event, root);
    },
    chatModels: ({ signal } = {}) => dataOf(http.GET('/models', { headers: json, ...mannerOf(signal) }), signal),
    async speak(body, { signal } = {}) {
      const headers = { Accept: 'audio/*' };
      const { response } = await http.POST('/tts', { headers, ...mannerOf(signal), body });
      return response;
    },
    speechModels: ({ signal } = {}) => dataOf(http.GET('/tts/models', { headers: json, ...mannerOf(signal) }), signal),
  };
}

/** Looked up per call: mocks and instrumentation replace it after the client is made. */
const globalFetch: Fetch = (request) => globalThis.fetch(request);

/** Bodies are read here: what openapi-fetch makes of a broken one cannot be told from a request that cannot be made. */
const unread: object = { parseAs: 'stream' };

const mannerOf = (signal: AbortSignal | undefined) => ({ ...unread, ...(signal !== undefined && { signal }) });

interface Answered<T> {
  readonly data?: T;
  readonly response: Response;
}

/** A success with its body read. */
async function answerOf<T>(
  call: Promise<Answered<T>>,
  signal: AbortSignal | undefined,
): Promise<Required<Answered<T>>> {
  const { response } = await call;
  try {
    return { data: (await response.json()) as T, response };
  } catch (cause) {
    signal?.throwIfAborted();
    throw unexpected(response, cause);
  }
}

async function dataOf<T>(call: Promise<Answered<T>>, signal: AbortSignal | undefined): Promise<T> {
  return (await answerOf(call, signal)).data;
}

function withAbsoluteUrl(event: ChatEvent, root: string): ChatEvent {
  if (event.type !== 'audio.created') return event;
  return { ...event, audio: { ...event.audio, url: new URL(event.audio.url, root).href } };
}
