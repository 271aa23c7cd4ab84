/** `@parlance/server/client`: a typed client for pages and for Node.js 22 and later. */
import { rootOf } from './base-url.ts';
import type {
  ChatEvent,
  ChatRequest,
  ChatResult,
  ModelList,
  Preparation,
  PreparationList,
  SpeechClip,
  SpeechModelList,
  SpeechRequest,
  TranscriptFormat,
  Transcription,
  TranscriptionAvailability,
  TranscriptionEvent,
  TranscriptionFields,
  TranscriptionJob,
} from './contract.ts';
import { jsonOf, textOf } from './answers.ts';
import { ParlanceError } from './errors.ts';
import { readEvents } from './events.ts';
import { encodeForm, type Form } from './form.ts';
import { createHttp, type Call } from './http.ts';
import { followJob, waitForJob } from './jobs.ts';
import { absoluteUrl, clipsOf, type Clip } from './links.ts';
import { toFilePart, type RecordingSource } from './recording.ts';
import * as shapes from './shapes.ts';
import type { Fetch } from './transport.ts';
import { uploadFetch, type OnUploadProgress } from './upload.ts';

export type * from './contract.ts';
export type { ClientErrorCode } from './errors.ts';
export { ParlanceError };
export type { Clip, Fetch, OnUploadProgress, RecordingSource };

/** Options of `createClient`. */
export interface ClientOptions {
  /**
   * URL of the service, such as `http://127.0.0.1:8484`, with or without `/api/v1`. Defaults to the origin of the web
   * page if not specified; required outside of a web page.
   */
  readonly baseUrl?: string | URL;
  /** API key, sent as the bearer token. Defaults to none if not specified. */
  readonly apiKey?: string;
  /** Sends the requests. Defaults to the global `fetch` at the time of each call if not specified. */
  readonly fetch?: Fetch;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call and its work in the service; the call rejects with the abort reason. */
  readonly signal?: AbortSignal;
}

/** The fields of a transcription, and options of the upload. */
export interface TranscribeOptions
  extends CallOptions, Omit<TranscriptionFields, 'keywords' | 'known_speaker_names' | 'known_speaker_references'> {
  /**
   * Names and terms that may occur, in at most 1,000 characters. The model must list `keywords` or `prompt` in `supports`;
   * otherwise the call rejects with `parameter-not-supported`. Defaults to none if not specified.
   */
  readonly keywords?: readonly string[];
  /**
   * Names of at most 4 speakers, one for each of `known_speaker_references`. Implies `diarize`. Defaults to none if not
   * specified.
   */
  readonly known_speaker_names?: readonly string[];
  /** Recordings of these speakers, 1 to 30 s long and of at most 1 MB each. */
  readonly known_speaker_references?: readonly RecordingSource[];
  /** Name of the recording, for information. Defaults to the name of the File, or the last segment of the path. */
  readonly fileName?: string;
  /**
   * Reports how much of the upload was sent, from 0 to 1. Called on web pages only, and only without
   * `ClientOptions.fetch`.
   */
  readonly onUploadProgress?: OnUploadProgress;
}

/** The result of a chat, with the clips created by read_aloud in call order. */
export interface ChatAnswer extends ChatResult {
  /** Empty if nothing was read aloud. */
  readonly clips: readonly Clip[];
}

/** Transcriptions of long recordings: they are independent of a connection, and survive a restart of the service. */
export interface Transcriptions {
  /**
   * Uploads the recording and resolves once the service has stored it. From then on, the transcription survives a
   * restart.
   *
   * @example
   * import { createClient } from '@parlance/server/client';
   *
   * const { transcriptions } = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * const { id } = await transcriptions.create('lecture.mp3');
   * const { text } = await transcriptions.wait(id);
   * await transcriptions.delete(id);
   * console.log(text);
   */
  create(recording: RecordingSource, options?: TranscribeOptions): Promise<TranscriptionJob>;
  /**
   * Resolves with the current state. `wait`: seconds to wait for the end of the transcription, at most 30. Defaults to
   * no wait if not specified. Rejects with `transcription-not-found` if there is no such transcription.
   */
  get(id: string, options?: CallOptions & { readonly wait?: number }): Promise<TranscriptionJob>;
  /**
   * Resolves with the transcript, however long that takes. Rejects with the problem of a transcription that failed.
   * Retries while the service is restarted or busy, for up to five minutes without an answer. An abort ends only the
   * wait.
   */
  wait(id: string, options?: CallOptions): Promise<Transcription>;
  /**
   * Yields the events that follow `after`, the `seq` of the last event that you have received. Defaults to all events
   * if not specified. Resumes when the connection breaks or the service is restarted, for up to five minutes without an
   * event.
   */
  events(
    id: string,
    options?: CallOptions & { readonly after?: number },
  ): AsyncGenerator<TranscriptionEvent, void, undefined>;
  /**
   * Resolves with the transcript so far: the text, subtitles, or JSON as a string. `format` defaults to `text` if not
   * specified.
   */
  transcript(id: string, options?: CallOptions & { readonly format?: TranscriptFormat }): Promise<string>;
  /** Ends the work and deletes the recording and the transcript. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** The programs, models and other components that can be installed on the machine of the service. */
export interface Preparations {
  /** Resolves with all of them and their states. */
  list(options?: CallOptions): Promise<PreparationList>;
  /**
   * Starts the installation and resolves with its state; the installation continues in the background. Rejects unless
   * `startable` of the list is true.
   */
  start(id: string, options?: CallOptions): Promise<Preparation>;
  /** Stops the installation and resolves with its state. Files that have been downloaded are kept. */
  stop(id: string, options?: CallOptions): Promise<Preparation>;
}

/**
 * Every method rejects with a `ParlanceError`, or with the signal's abort reason. Invalid arguments (a missing file, a
 * key that is not valid in a header) reject with a `TypeError`. Only `transcriptions.wait` and `transcriptions.events`
 * retry.
 */
export interface Client {
  /**
   * Transcribes a recording of up to 25 MB. Uses the event stream, whose response starts within 5 s: the `fetch` of
   * Node.js times out after 300 s without a response. With a key that may not stream, uses `POST /transcribe`.
   *
   * @example
   * import { createClient } from '@parlance/server/client';
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * const { text, segments } = await client.transcribe('note.webm', { language: 'en', timestamps: 'segment' });
   * console.log(text, segments);
   */
  transcribe(recording: RecordingSource, options?: TranscribeOptions): Promise<Transcription>;
  /**
   * Yields segments and progress while the recording is transcribed, if the model reports them. The last event is
   * `transcription.completed` or `transcription.failed`; otherwise the loop throws. The request is sent when iteration
   * starts; breaking out of the loop cancels the transcription.
   *
   * @example
   * import { createClient } from '@parlance/server/client';
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * for await (const event of client.streamTranscription('note.webm')) {
   *   if (event.type === 'segment.created') console.log(event.segment.start_ms, event.segment.text);
   *   if (event.type === 'transcription.failed') console.error(event.problem.detail);
   * }
   */
  streamTranscription(
    recording: RecordingSource,
    options?: TranscribeOptions,
  ): AsyncGenerator<TranscriptionEvent, void, undefined>;
  /** Transcriptions of recordings that are too long for one request. */
  readonly transcriptions: Transcriptions;
  /**
   * Resolves with whether transcription is available; free of charge. `model` defaults to the default model if not
   * specified. An unknown model is reported in the result, not as an error.
   */
  transcriptionAvailability(options?: CallOptions & { readonly model?: string }): Promise<TranscriptionAvailability>;
  /** Lists the transcription models with their availability, and the id of the default model. */
  transcriptionModels(options?: CallOptions): Promise<ModelList>;
  /**
   * Sends a conversation and resolves with the complete answer, after all steps and tool calls. Long answers need a
   * stream: the `fetch` of Node.js times out after 300 s without a response.
   *
   * @example
   * import { createClient } from '@parlance/server/client';
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * const { content, clips } = await client.chat({ messages: [{ role: 'user', content: 'Hello!' }] });
   * console.log(content, clips);
   */
  chat(request: ChatRequest, options?: CallOptions): Promise<ChatAnswer>;
  /**
   * Sends a conversation and yields the events of the run. The last one is `chat.completed` or `chat.failed`; otherwise
   * the loop throws. The request is sent when iteration starts; breaking out of the loop cancels the run.
   *
   * @example
   * import { createClient } from '@parlance/server/client';
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * for await (const event of client.streamChat({ messages: [{ role: 'user', content: 'Hello!' }] })) {
   *   if (event.type === 'content.delta') process.stdout.write(event.delta);
   *   if (event.type === 'chat.failed') console.error(event.problem.detail);
   * }
   */
  streamChat(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;
  /** Lists the chat models with their availability, and the id of the default model. */
  chatModels(options?: CallOptions): Promise<ModelList>;
  /**
   * Synthesizes speech and resolves once audio arrives: stream the `body` of the response, or await its `blob()`.
   *
   * @example
   * import { writeFile } from 'node:fs/promises';
   * import { createClient } from '@parlance/server/client';
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8484' });
   * const { body } = await client.speak({ text: 'Hello!', format: 'wav' });
   * if (body) await writeFile('hello.wav', body);
   */
  speak(request: SpeechRequest, options?: CallOptions): Promise<Response>;
  /**
   * Synthesizes speech and resolves once audio arrives: an `<audio>` element can play the `url` immediately, without a
   * key. The synthesis ends when no one has read the clip for 15 s.
   */
  createClip(request: SpeechRequest, options?: CallOptions): Promise<SpeechClip>;
  /** Deletes a clip and ends its synthesis and playback. `id`: from `createClip` or an `audio.created` event. */
  deleteClip(id: string, options?: CallOptions): Promise<void>;
  /** Lists the speech models with their voices and availability, and the id of the default model. */
  speechModels(options?: CallOptions): Promise<SpeechModelList>;
  /** Installation of programs, models and other components. */
  readonly preparations: Preparations;
}

/** Maximum number of seconds that the service waits for the end of a transcription. */
const maxWaitSeconds = 30;
/** Media types of the formats of a transcript. */
const transcriptTypes: Readonly<Record<TranscriptFormat, string>> = {
  ...{ text: 'text/plain', json: 'application/json', srt: 'application/x-subrip', vtt: 'text/vtt' },
};

/**
 * Creates a client. It sends no request itself. Throws a `TypeError` if `baseUrl` is not a valid service URL.
 *
 * @example
 * import { createClient, ParlanceError } from '@parlance/server/client';
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8484', apiKey: 'pk_...' });
 * try {
 *   const { default: model } = await client.chatModels();
 *   console.log(model);
 * } catch (error) {
 *   if (!(error instanceof ParlanceError)) throw error;
 *   console.error(error.code, error.detail, error.retryAfter);
 * }
 */
export function createClient({ baseUrl, apiKey, fetch }: ClientOptions = {}): Client {
  const root = rootOf(baseUrl);
  const http = createHttp({ root, apiKey, fetch: fetch ?? globalFetch });

  async function* streamForm(
    form: Form,
    options: TranscribeOptions,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const body = await http.events('post', '/transcribe/stream', uploadOf(form, options, fetch));
    yield* readEvents<TranscriptionEvent>(body, shapes.transcriptionEvents, options.signal);
  }

  function getJob(id: string, { wait, signal }: Parameters<Transcriptions['get']>[1] = {}): Promise<TranscriptionJob> {
    const headers = wait === undefined ? {} : { Prefer: `wait=${wait}` };
    return http.json('get', '/transcriptions/{id}', shapes.job, { id, headers, signal });
  }

  return {
    async transcribe(recording, options = {}) {
      const form = await formOf(recording, options);
      try {
        return await resultOf(streamForm(form, options));
      } catch (error) {
        if (!isWithoutStream(error)) throw error;
        return http.json('post', '/transcribe', shapes.transcription, uploadOf(form, options, fetch));
      }
    },
    async *streamTranscription(recording, options = {}) {
      yield* streamForm(await formOf(recording, options), options);
    },
    transcriptions: {
      async create(recording, options = {}) {
        const upload = uploadOf(await formOf(recording, options), options, fetch);
        return http.json('post', '/transcriptions', shapes.job, upload);
      },
      get: getJob,
      wait: (id, { signal } = {}) =>
        waitForJob(() => getJob(id, { wait: maxWaitSeconds, ...(signal && { signal }) }), signal),
      events(id, { after = -1, signal } = {}) {
        const open = (last: number) => {
          const headers = last < 0 ? {} : { 'Last-Event-ID': String(last) };
          return http.events('get', '/transcriptions/{id}/events', { id, headers, signal });
        };
        return followJob(open, after, signal);
      },
      async transcript(id, { format = 'text', signal } = {}) {
        const call = { id, query: { format }, signal };
        return textOf(await http.send('get', '/transcriptions/{id}/transcript', transcriptTypes[format], call), signal);
      },
      async delete(id, { signal } = {}) {
        await http.send('delete', '/transcriptions/{id}', undefined, { id, signal });
      },
    },
    transcriptionAvailability({ model, signal } = {}) {
      const query = model === undefined ? {} : { model };
      return http.json('get', '/transcribe', shapes.availability, { query, signal });
    },
    transcriptionModels: (options) => http.json('get', '/transcribe/models', shapes.models, options),
    async chat(request, { signal } = {}) {
      const response = await http.send('post', '/chat', 'application/json', { json: request, signal });
      const result = await jsonOf<ChatResult>(response, shapes.chatResult, signal);
      return { ...result, clips: clipsOf(response.headers.get('link'), root) };
    },
    async *streamChat(request, { signal } = {}) {
      const body = await http.events('post', '/chat/stream', { json: request, signal });
      for await (const event of readEvents<ChatEvent>(body, shapes.chatEvents, signal)) {
        yield event.type === 'audio.created' ? { ...event, audio: withAbsoluteUrl(event.audio, root) } : event;
      }
    },
    chatModels: (options) => http.json('get', '/models', shapes.models, options),
    speak: (request, { signal } = {}) => http.send('post', '/tts', 'audio/*', { json: request, signal }),
    async createClip(request, { signal } = {}) {
      const clip = await http.json('post', '/tts/clips', shapes.clip, { json: request, signal });
      return withAbsoluteUrl(clip, root);
    },
    async deleteClip(id, { signal } = {}) {
      await http.send('delete', '/tts/clips/{id}', undefined, { id, signal });
    },
    speechModels: (options) => http.json('get', '/tts/models', shapes.speechModels, options),
    preparations: {
      list: (options) => http.json('get', '/preparations', shapes.preparations, options),
      start: (id, { signal } = {}) => http.json('post', '/preparations/{id}', shapes.preparation, { id, signal }),
      stop: (id, { signal } = {}) => http.json('delete', '/preparations/{id}', shapes.preparation, { id, signal }),
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

/** True if the key may not stream, or if the service predates event streams. */
function isWithoutStream(error: unknown): boolean {
  if (!(error instanceof ParlanceError)) return false;
  return error.code === 'operation-not-allowed' || error.code === 'not-found' || error.code === 'method-not-allowed';
}

/** Looked up per call, because mocks and instrumentation may replace it after the client is created. */
const globalFetch: Fetch = (request) => globalThis.fetch(request);

/** The fields precede the file, so that the service can refuse them before it has read the file. */
async function formOf(
  recording: RecordingSource,
  { fileName, onUploadProgress: _, signal: __, keywords, known_speaker_references = [], ...fields }: TranscribeOptions,
): Promise<Form> {
  const references = await Promise.all(known_speaker_references.map((reference) => toFilePart(reference)));
  const file = await toFilePart(recording, fileName);
  return encodeForm({ ...fields, keywords: keywords?.join(), known_speaker_references: references, file });
}

/** A caller-supplied `fetch` does not report progress. */
function uploadOf(form: Form, { onUploadProgress, signal }: TranscribeOptions, ownFetch: Fetch | undefined): Call {
  return { form, signal, fetch: onUploadProgress && !ownFetch ? uploadFetch(onUploadProgress) : undefined };
}

function withAbsoluteUrl(clip: SpeechClip, root: string): SpeechClip {
  return { ...clip, url: absoluteUrl(clip.url, root) };
}
