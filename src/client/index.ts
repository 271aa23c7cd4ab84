/** `@parlance/server/client`: a typed client for pages and for Node.js 22 and later. */
import createFetchClient from 'openapi-fetch';
import { rootOf } from './base-url.ts';
import type {
  ChatEvent,
  ChatRequest,
  ChatResult,
  ModelList,
  paths,
  Preparation,
  PreparationList,
  SpeechClip,
  SpeechModelList,
  SpeechRequest,
  Task,
  Timestamps,
  TranscriptFormat,
  Transcription,
  TranscriptionAvailability,
  TranscriptionEvent,
  TranscriptionJob,
} from './contract.ts';
import { ParlanceError, unexpected } from './errors.ts';
import { chatEvents, readEvents, transcriptionEvents } from './events.ts';
import { encodeForm, type Form } from './form.ts';
import { followJob, waitForJob } from './jobs.ts';
import { absoluteUrl, clipsOf, type Clip } from './links.ts';
import { toFilePart, type RecordingSource } from './recording.ts';
import { strict, type Fetch } from './transport.ts';
import { uploadFetch, type OnUploadProgress } from './upload.ts';

export type * from './contract.ts';
export type { ClientErrorCode } from './errors.ts';
export { ParlanceError };
export type { Clip, Fetch, OnUploadProgress, RecordingSource };

export interface ClientOptions {
  /**
   * URL of the service, such as `http://127.0.0.1:8484`, with or without `/api/v1`. Default on a web page: its origin.
   */
  readonly baseUrl?: string | URL;
  /** Sent as the bearer token. */
  readonly apiKey?: string;
  /** Default: the global `fetch` at the time of each call. */
  readonly fetch?: Fetch;
}

export interface CallOptions {
  /** Aborts the call and its work in the service; the call rejects with the abort reason. */
  readonly signal?: AbortSignal;
}

export interface TranscribeOptions extends CallOptions {
  /** An id from `transcriptionModels`. Default: the default model of the service. */
  readonly model?: string;
  /** Two-letter ISO 639-1 code. Default: detected. */
  readonly language?: string;
  /** `segment` adds `segments` to the result, `word` adds `segments` and `words`. Default: `none`. */
  readonly timestamps?: Timestamps;
  readonly task?: Task;
  /** Default: the name of the File, or the last segment of the path. */
  readonly fileName?: string;
  /** Receives the sent fraction of the upload, from 0 to 1. Called only on web pages, and not with a custom `fetch`. */
  readonly onUploadProgress?: OnUploadProgress;
}

/** The result of a chat, with the clips created by read_aloud in call order. */
export interface ChatAnswer extends ChatResult {
  readonly clips: readonly Clip[];
}

/** Transcriptions of long recordings. They are independent of connections, and survive a restart of the service. */
export interface Transcriptions {
  /** Resolves once the recording is stored. From then on, it survives disconnects and restarts. */
  create(recording: RecordingSource, options?: TranscribeOptions): Promise<TranscriptionJob>;
  /** Returns the current state. `wait`: seconds to wait for the end, at most 30. */
  get(id: string, options?: CallOptions & { readonly wait?: number }): Promise<TranscriptionJob>;
  /**
   * Resolves with the transcript, without a time limit; rejects with the problem of a failed transcription. Retries
   * while the service is restarting or busy, for up to five minutes without a response. An abort ends only the wait.
   */
  wait(id: string, options?: CallOptions): Promise<Transcription>;
  /**
   * Yields the events after `after`, the `seq` of the last event that you have. Resumes when the connection breaks or
   * the service restarts, for up to five minutes without an event.
   */
  events(
    id: string,
    options?: CallOptions & { readonly after?: number },
  ): AsyncGenerator<TranscriptionEvent, void, undefined>;
  /** Returns the transcript so far as plain text, subtitles or a JSON string. Default: `text`. */
  transcript(id: string, options?: CallOptions & { readonly format?: TranscriptFormat }): Promise<string>;
  /** Ends the work and deletes the recording and the transcript. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** Models, voices and programs that can be installed on the machine of the service. */
export interface Preparations {
  list(options?: CallOptions): Promise<PreparationList>;
  /**
   * Starts a preparation and resolves with its state, before it has finished. Rejects unless `startable` of the list is
   * true.
   */
  start(id: string, options?: CallOptions): Promise<Preparation>;
  stop(id: string, options?: CallOptions): Promise<Preparation>;
}

/**
 * Every method rejects with a `ParlanceError`, or with the signal's abort reason. Invalid arguments (a missing file, a
 * key that is not valid in a header) reject with a `TypeError`. Only `transcriptions.wait` and `transcriptions.events`
 * retry.
 */
export interface Client {
  /**
   * Transcribes a recording. Uses the event stream, whose head arrives within 5 s, because Node's fetch gives up after
   * 300 s without a response head. Falls back to `POST /transcribe` if the key may not stream.
   */
  transcribe(recording: RecordingSource, options?: TranscribeOptions): Promise<Transcription>;
  /**
   * Yields segments and progress while the recording is transcribed, if the model reports them. The last event is
   * `transcription.completed` or `transcription.failed`; otherwise the loop throws. The request is sent when iteration
   * starts; breaking out of the loop cancels the transcription.
   */
  streamTranscription(
    recording: RecordingSource,
    options?: TranscribeOptions,
  ): AsyncGenerator<TranscriptionEvent, void, undefined>;
  readonly transcriptions: Transcriptions;
  /**
   * Returns whether transcription is available, without cost. An unknown model is reported in the result, not as an
   * error.
   */
  transcriptionAvailability(options?: CallOptions & { readonly model?: string }): Promise<TranscriptionAvailability>;
  transcriptionModels(options?: CallOptions): Promise<ModelList>;
  chat(request: ChatRequest, options?: CallOptions): Promise<ChatAnswer>;
  /**
   * Yields the events of a run. The last one is `chat.completed` or `chat.failed`; otherwise the loop throws. The
   * request is sent when iteration starts; breaking out of the loop cancels the run.
   */
  streamChat(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;
  chatModels(options?: CallOptions): Promise<ModelList>;
  /** Resolves with the first audio bytes: stream the `body` of the response, or await its `blob()`. */
  speak(request: SpeechRequest, options?: CallOptions): Promise<Response>;
  /**
   * Resolves with the first audio bytes. An `<audio>` element can play the `url` at once, without a key. The synthesis
   * ends if nobody reads the clip for 15 s.
   */
  createClip(request: SpeechRequest, options?: CallOptions): Promise<SpeechClip>;
  /** Ends the synthesis and all playback of the clip. `id`: from `createClip` or an `audio.created` event. */
  deleteClip(id: string, options?: CallOptions): Promise<void>;
  speechModels(options?: CallOptions): Promise<SpeechModelList>;
  readonly preparations: Preparations;
}

const json = { Accept: 'application/json' };
/** Maximum number of seconds that the service waits for the end of a transcription. */
const maxWaitSeconds = 30;
const eventStream = { Accept: 'text/event-stream' };

/** Throws a `TypeError` if `baseUrl` is not a valid service URL. */
export function createClient({ baseUrl, apiKey, fetch }: ClientOptions = {}): Client {
  const root = rootOf(baseUrl);
  const http = createFetchClient<paths>({
    baseUrl: `${root}api/v1`,
    fetch: strict(fetch ?? globalFetch),
    ...(apiKey !== undefined && { headers: { Authorization: `Bearer ${apiKey}` } }),
  });

  async function* streamForm(
    form: Form,
    options: TranscribeOptions,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const { response } = await http.POST('/transcribe/stream', uploadOf(form, eventStream, options, fetch));
    yield* readEvents<TranscriptionEvent>(bodyOf(response), transcriptionEvents, options.signal);
  }

  function getJob(id: string, { wait, signal }: Parameters<Transcriptions['get']>[1] = {}): Promise<TranscriptionJob> {
    const header = wait === undefined ? {} : { Prefer: `wait=${wait}` };
    const call = { ...requestOf(json, signal), params: { path: { id }, header } };
    return dataOf(http.GET('/transcriptions/{id}', call), signal);
  }

  return {
    async transcribe(recording, options = {}) {
      const form = await formOf(recording, options);
      try {
        return await resultOf(streamForm(form, options));
      } catch (error) {
        if (!isWithoutStream(error)) throw error;
        return dataOf(http.POST('/transcribe', uploadOf(form, json, options, fetch)), options.signal);
      }
    },
    async *streamTranscription(recording, options = {}) {
      yield* streamForm(await formOf(recording, options), options);
    },
    transcriptions: {
      async create(recording, options = {}) {
        const call = uploadOf(await formOf(recording, options), json, options, fetch);
        return dataOf(http.POST('/transcriptions', call), options.signal);
      },
      get: getJob,
      wait: (id, { signal } = {}) =>
        waitForJob(() => getJob(id, { wait: maxWaitSeconds, ...(signal && { signal }) }), signal),
      events(id, { after = -1, signal } = {}) {
        const open = async (last: number) => {
          const header = last < 0 ? {} : { 'Last-Event-ID': String(last) };
          const call = { ...requestOf(eventStream, signal), params: { path: { id }, header } };
          return bodyOf((await http.GET('/transcriptions/{id}/events', call)).response);
        };
        return followJob(open, after, signal);
      },
      async transcript(id, { format = 'text', signal } = {}) {
        const params = { path: { id }, query: { format } };
        const call = http.GET('/transcriptions/{id}/transcript', { ...requestOf({}, signal), params });
        const { response } = await call;
        return textOf(response, signal);
      },
      async delete(id, { signal } = {}) {
        await http.DELETE('/transcriptions/{id}', { ...requestOf({}, signal), params: { path: { id } } });
      },
    },
    transcriptionAvailability({ model, signal } = {}) {
      const params = { query: { ...(model !== undefined && { model }) } };
      return dataOf(http.GET('/transcribe', { ...requestOf(json, signal), params }), signal);
    },
    transcriptionModels: ({ signal } = {}) => dataOf(http.GET('/transcribe/models', requestOf(json, signal)), signal),
    async chat(body, { signal } = {}) {
      const call = http.POST('/chat', { ...requestOf(json, signal), body });
      const { data, response } = await answerOf(call, signal);
      return { ...data, clips: clipsOf(response.headers.get('link'), root) };
    },
    async *streamChat(body, { signal } = {}) {
      const { response } = await http.POST('/chat/stream', { ...requestOf(eventStream, signal), body });
      const events = readEvents<ChatEvent>(bodyOf(response), chatEvents, signal);
      for await (const event of events) {
        yield event.type === 'audio.created' ? { ...event, audio: withAbsoluteUrl(event.audio, root) } : event;
      }
    },
    chatModels: ({ signal } = {}) => dataOf(http.GET('/models', requestOf(json, signal)), signal),
    async speak(body, { signal } = {}) {
      const { response } = await http.POST('/tts', { ...requestOf({ Accept: 'audio/*' }, signal), body });
      return response;
    },
    async createClip(body, { signal } = {}) {
      const clip = await dataOf(http.POST('/tts/clips', { ...requestOf(json, signal), body }), signal);
      return withAbsoluteUrl(clip, root);
    },
    async deleteClip(id, { signal } = {}) {
      await http.DELETE('/tts/clips/{id}', { ...requestOf({}, signal), params: { path: { id } } });
    },
    speechModels: ({ signal } = {}) => dataOf(http.GET('/tts/models', requestOf(json, signal)), signal),
    preparations: {
      list: ({ signal } = {}) => dataOf(http.GET('/preparations', requestOf(json, signal)), signal),
      start(id, { signal } = {}) {
        const call = { ...requestOf(json, signal), params: { path: { id } } };
        return dataOf(http.POST('/preparations/{id}', call), signal);
      },
      stop(id, { signal } = {}) {
        const call = { ...requestOf(json, signal), params: { path: { id } } };
        return dataOf(http.DELETE('/preparations/{id}', call), signal);
      },
    },
  };
}

/** Resolves with the result in the last event. Rejects with the problem of a failed transcription. */
async function resultOf(events: AsyncIterable<TranscriptionEvent>): Promise<Transcription> {
  for await (const event of events) {
    if (event.type === 'transcription.completed') return event.result;
    if (event.type === 'transcription.failed') throw ParlanceError.fromProblem(event.problem);
  }
  throw new ParlanceError('stream-broken', 'The stream ended before its last event.');
}

/** Whether the key may not stream, or the service does not support streams yet. */
function isWithoutStream(error: unknown): boolean {
  if (!(error instanceof ParlanceError)) return false;
  return error.code === 'operation-not-allowed' || error.code === 'not-found' || error.code === 'method-not-allowed';
}

/** Looked up per call: mocks and instrumentation may replace it after the client is created. */
const globalFetch: Fetch = (request) => globalThis.fetch(request);

/**
 * Bodies are read here, because openapi-fetch does not distinguish a broken body from a request that could not be sent.
 */
const unparsed: object = { parseAs: 'stream' };

function requestOf(headers: Readonly<Record<string, string>>, signal: AbortSignal | undefined) {
  return { headers, ...unparsed, ...(signal !== undefined && { signal }) };
}

/** The fields precede the file, so that the service can refuse them before it has read the file. */
async function formOf(
  recording: RecordingSource,
  { model, language, timestamps, task, fileName }: TranscribeOptions,
): Promise<Form> {
  return encodeForm({ model, language, timestamps, task }, await toFilePart(recording, fileName));
}

function uploadOf(
  { body, contentType }: Form,
  accept: Readonly<Record<string, string>>,
  { onUploadProgress, signal }: TranscribeOptions,
  ownFetch: Fetch | undefined,
) {
  const headers = { ...accept, 'Content-Type': contentType };
  const upload = onUploadProgress && !ownFetch ? uploadFetch(onUploadProgress) : undefined;
  const transport = upload && { fetch: strict(upload) };
  return { ...requestOf(headers, signal), ...transport, body: { file: '' }, bodySerializer: () => body };
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (!response.body) throw unexpected(response);
  return response.body;
}

interface Answered<T> {
  readonly data?: T;
  readonly response: Response;
}

/** A successful response with its parsed body. */
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

async function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    throw unexpected(response, cause);
  }
}

async function dataOf<T>(call: Promise<Answered<T>>, signal: AbortSignal | undefined): Promise<T> {
  return (await answerOf(call, signal)).data;
}

function withAbsoluteUrl(clip: SpeechClip, root: string): SpeechClip {
  return { ...clip, url: absoluteUrl(clip.url, root) };
}
