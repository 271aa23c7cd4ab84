/** The client in Node.js, against the real service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, ParlanceError, type Client, type Fetch } from '../../src/client/index.ts';
import { eventually } from '../api/support/eventually.ts';
import { keysFile, tokenOf } from '../keys/support/keys.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { collect, say, wav } from './support/calls.ts';
import { scripted } from './support/scripted.ts';
import { failureOf } from './support/failure.ts';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startTestService(scripted);
  client = createClient({ baseUrl: service.url });
});
afterAll(() => service[Symbol.asyncDispose]());

describe('transcribe', () => {
  const expected = { text: `${wav.length} bytes of wav`, language: null, duration_ms: 1500, model: 'ear' };

  it.each([
    ['a Buffer', () => Buffer.from(wav)],
    ['a Uint8Array', () => new Uint8Array(wav)],
    ['a Blob', () => new Blob([new Uint8Array(wav)])],
    ['a File', () => new File([new Uint8Array(wav)], 'memo.wav')],
  ])('takes %s', async (_what, source) => {
    expect(await client.transcribe(source())).toEqual(expected);
  });

  it('takes a path', async () => {
    const path = join(await temporaryDirectory(), 'memo.wav');
    await writeFile(path, wav);
    expect(await client.transcribe(path)).toEqual(expected);
  });

  it('sends model and language', async () => {
    expect(await client.transcribe(wav, { model: 'ear', language: 'de' })).toMatchObject({ language: 'de' });
    expect(await failureOf(client.transcribe(wav, { model: 'nose' }))).toMatchObject({
      status: 422,
      code: 'unknown-model',
    });
  });

  it('uses the event stream, and POST /transcribe with a key that may not', async () => {
    const operations = () => keyed.log.flatMap(({ msg, operation, status }) => (msg === 'request' ? [[operation, status]] : [])); // prettier-ignore
    const names = ['streams', 'posts'];
    const entries = names.map((name) => ({ name, operations: [name === 'posts' ? 'createTranscription' : 'streamTranscription'] })); // prettier-ignore
    const files = { ...scripted.files, 'keys.yaml': keysFile(...entries) };
    await using keyed = await startTestService({ ...scripted, files, env: { API_KEYS_FILE: 'keys.yaml' } });
    for (const name of names) {
      expect(await createClient({ baseUrl: keyed.url, apiKey: tokenOf(name) }).transcribe(wav)).toEqual(expected);
    }
    await eventually(operations).toEqual([
      ['streamTranscription', 200],
      ['streamTranscription', 403],
      ['createTranscription', 200],
    ]);
  });

  it('reports no upload progress in Node.js', async () => {
    const onUploadProgress = vi.fn();
    expect(await client.transcribe(wav, { onUploadProgress })).toEqual(expected);
    expect(onUploadProgress).not.toHaveBeenCalled();
  });

  it.each([
    ['nothing', undefined],
    ['a list of files', { 0: new Blob(['RIFF']), length: 1 }],
  ])('refuses %s', async (_what, source) => {
    const transcribing = client.transcribe(source as unknown as Blob);
    await expect(transcribing).rejects.toThrow(
      new TypeError('A recording must be a File, a Blob, bytes, or in Node.js the path of a file.'),
    );
  });

  it('names the file that cannot be opened', async () => {
    await expect(client.transcribe('/not/there.wav')).rejects.toThrow(
      new TypeError('Cannot open the recording /not/there.wav; check that the file exists.'),
    );
  });
});

describe('clips', () => {
  it('have an absolute URL that plays without a key, and are deleted by their id', async () => {
    const clip = await client.createClip({ text: 'wait', format: 'wav' });
    expect(clip).toEqual({
      id: expect.any(String) as unknown,
      url: `${service.url}/api/v1/tts/clips/${clip.id}`,
      content_type: 'audio/wav',
    });
    const reader = (await fetch(clip.url)).body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('wav:wait');
    await client.deleteClip(clip.id);
    await expect(reader.read()).rejects.toThrow();
    expect(await failureOf(client.deleteClip(clip.id))).toMatchObject({ status: 404, code: 'clip-not-found' });
  });

  it('are rejected like speech', async () => {
    const failure = await failureOf(client.createClip({ text: 'Hello.', model: 'absent' }));
    expect(failure).toMatchObject({ status: 422, code: 'unknown-model' });
  });

  it('have the base path of the client if the service does not know its own', async () => {
    const atPath: Fetch = (request) => fetch(new Request(request.url.replace('/voice/', '/'), request));
    const proxied = createClient({ baseUrl: `${service.url}/voice/`, fetch: atPath });
    const { id, url } = await proxied.createClip({ text: 'Hello.' });
    expect(url).toBe(`${service.url}/voice/api/v1/tts/clips/${id}`);
    const { clips } = await proxied.chat({ messages: [{ role: 'user', content: 'read aloud' }] });
    expect(clips.map((clip) => clip.url.replace(/[\w.-]{22,}$/, 'ID'))).toEqual([
      `${service.url}/voice/api/v1/tts/clips/ID`,
    ]);
  });
});

describe('timestamps', () => {
  const expected = { text: `${wav.length} bytes of wav`, language: null, duration_ms: 1500, model: 'ear' };
  const segments = [{ start_ms: 0, end_ms: 1200, text: expected.text }];

  it('are in the result when asked for', async () => {
    expect(await client.transcribe(wav, { timestamps: 'segment' })).toEqual({ ...expected, segments });
    expect(await client.transcribe(wav, { timestamps: 'none' })).toEqual(expected);
  });

  it('that the model does not support are refused', async () => {
    expect(await failureOf(client.transcribe(wav, { timestamps: 'word' }))).toMatchObject({
      status: 422,
      code: 'parameter-not-supported',
      errors: [{ in: 'body', pointer: '/timestamps' }],
    });
  });
});

describe('streamTranscription', () => {
  const text = `${wav.length} bytes of wav`;

  it('shows segments and progress, up to the result', async () => {
    const events = await collect(client.streamTranscription(wav, { timestamps: 'segment' }));
    expect(events).toMatchObject([
      { seq: 0, type: 'transcription.started', model: 'ear' },
      { seq: 1, type: 'segment.created', segment: { start_ms: 0, end_ms: 1200, text } },
      { seq: 2, type: 'transcription.progress', processed_ms: 1200, duration_ms: 1500 },
      { seq: 3, type: 'transcription.completed' },
    ]);
    const last = events.at(-1);
    if (last?.type !== 'transcription.completed') throw new Error(`the last event is ${String(last?.type)}`);
    expect(last.result).toEqual(await client.transcribe(wav, { timestamps: 'segment' }));
  });

  it('has a failure as the last event, which can be thrown', async () => {
    const last = (await collect(client.streamTranscription(wav, { language: 'xx' }))).at(-1);
    if (last?.type !== 'transcription.failed') throw new Error(`the last event is ${String(last?.type)}`);
    expect(ParlanceError.fromProblem(last.problem)).toMatchObject({ code: 'provider-error', status: 502 });
  });

  it('rejects like transcribe when the request is refused', async () => {
    expect(await failureOf(collect(client.streamTranscription(wav, { model: 'nose' })))).toMatchObject({
      status: 422,
      code: 'unknown-model',
    });
    await expect(collect(client.streamTranscription('/not/there.wav'))).rejects.toThrow(TypeError);
  });
});

describe('createClient', () => {
  it('uses the global fetch of the time of the call', async () => {
    const early = createClient({ baseUrl: 'http://127.0.0.1:9' });
    const urls: string[] = [];
    vi.stubGlobal('fetch', (request: Request) => {
      urls.push(request.url);
      return Promise.resolve(Response.json({ data: [], default: null }));
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await early.chatModels()).toEqual({ data: [], default: null });
    expect(urls).toEqual(['http://127.0.0.1:9/api/v1/models']);
  });

  it.each(['', '/', '/api/v1', '/api/v1/'])('takes the URL of the service, and of its API: %j', async (path) => {
    expect(await createClient({ baseUrl: `${service.url}${path}` }).chatModels()).toMatchObject({
      default: 'scripted',
    });
    expect(await createClient({ baseUrl: new URL(path, service.url) }).chatModels()).toMatchObject({
      default: 'scripted',
    });
  });

  it.each([
    '127.0.0.1:8484',
    'localhost:8484',
    'ftp://a.example',
    '/api/v1',
    '',
    'http://a:b@c.example',
    'http://a/?b',
  ])('refuses the baseUrl %j', (baseUrl) => {
    const says = `baseUrl must be an http or https URL without user, query and fragment, such as http://127.0.0.1:8484; it is ${JSON.stringify(baseUrl)}.`;
    expect(() => createClient({ baseUrl })).toThrow(new TypeError(says));
  });

  it('requires a baseUrl outside of a page', () => {
    const says = 'baseUrl is required outside of a web page, such as http://127.0.0.1:8484.';
    expect(() => createClient()).toThrow(new TypeError(says));
  });

  it('accepts a path on a page', async () => {
    vi.stubGlobal('location', { origin: service.url });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await createClient({ baseUrl: '/api/v1' }).chatModels()).toMatchObject({ default: 'scripted' });
    expect(() => createClient({ baseUrl: '127.0.0.1:8484' })).toThrow('baseUrl must be an http or https URL');
  });
});

describe('the listings and the probe', () => {
  it('are typed answers', async () => {
    expect(await client.transcriptionModels()).toMatchObject({ data: [{ id: 'ear' }], default: 'ear' });
    expect(await client.chatModels()).toMatchObject({ data: [{ id: 'scripted', local: true }] });
    expect((await client.speechModels()).data[0]?.voices).toEqual([{ id: 'low', name: 'Low', language: 'en' }]);
    expect(await client.transcriptionAvailability()).toMatchObject({ available: true, code: 'ready', model: 'ear' });
  });

  it('ask for the model that is named', async () => {
    expect(await client.transcriptionAvailability({ model: 'nose & more' })).toMatchObject({
      available: false,
      code: 'unknown-model',
      model: 'nose & more',
    });
  });
});

describe('chat', () => {
  it('answers in one piece', async () => {
    expect(await client.chat(say('hello'))).toEqual({
      content: 'Grüß dich, 東京.',
      model: 'scripted',
      finish_reason: 'stop',
      reasoning: null,
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, reasoning_tokens: 0 },
      clips: [],
    });
  });

  it('names the clips that were made, so that they can be fetched', async () => {
    const { clips } = await client.chat(say('read aloud'));
    expect(clips).toEqual([
      { url: expect.stringMatching(`^${service.url}/api/v1/tts/clips/[^/]+$`) as string, content_type: 'audio/mpeg' },
    ]);
    expect(await (await fetch(clips[0]!.url)).text()).toBe('mp3:Hello.');
  });

  it('streams events up to the result', async () => {
    const events = await collect(client.streamChat(say('hello')));
    expect(events.map(({ type, seq }) => [seq, type])).toEqual(
      ['chat.started', 'step.started', ...Array<string>(3).fill('content.delta'), 'chat.completed'].entries().toArray(),
    );
    expect(events.flatMap((event) => (event.type === 'content.delta' ? [event.delta] : []))).toEqual([
      'Grüß ',
      'dich, ',
      '東京.',
    ]);
    expect(events.at(-1)).toMatchObject({ result: { content: 'Grüß dich, 東京.' } });
  });

  it('streams the clip where it can be fetched', async () => {
    const events = await collect(client.streamChat(say('read aloud')));
    const created = events.find((event) => event.type === 'audio.created');
    expect(await (await fetch(created!.audio.url)).text()).toBe('mp3:Hello.');
  });

  it('streams a failure as the last event, which can be thrown', async () => {
    const last = (await collect(client.streamChat(say('fail midway')))).at(-1);
    if (last?.type !== 'chat.failed') throw new Error(`the last event is ${String(last?.type)}`);
    expect(ParlanceError.fromProblem(last.problem)).toMatchObject({ code: 'provider-error', status: 502 });
  });

  it('lets a finished stream end by itself, so that the log says 200', async () => {
    const before = service.log.length;
    for await (const event of client.streamChat(say('hello'))) if (event.type === 'chat.completed') break;
    await eventually(() => service.log.slice(before).find(({ msg }) => msg === 'request')?.status).toBe(200);
  });
});

describe('speak', () => {
  it('returns the audio with its type', async () => {
    const answer = await client.speak({ text: 'Hello.', format: 'wav', voice_id: 'low' });
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(await answer.text()).toBe('wav:Hello.');
  });
});

describe('a refusal', () => {
  it('is a ParlanceError with all fields of the problem document', async () => {
    const error = await failureOf(client.chat({ ...say(''), temperature: 9 }));
    expect(error).toMatchObject({ name: 'ParlanceError', status: 422, code: 'invalid-request', retryAfter: undefined });
    expect(error.message).toBe(error.detail);
    expect(error.errors.map(({ pointer }) => pointer).sort()).toEqual(['/messages/0/content', '/temperature']);
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('has the Retry-After', async () => {
    const limited = { status: 429, code: 'provider-rate-limited', retryAfter: 7, detail: 'Too fast.' };
    expect(await failureOf(client.chat(say('rate limit')))).toMatchObject(limited);
    expect(await failureOf(collect(client.streamChat(say('rate limit'))))).toMatchObject(limited);
  });

  it('of a wrong key is unauthorized, and the right key works', async () => {
    await using guarded = await startTestService({ ...scripted, env: { API_KEYS: 'sesame' } });
    const baseUrl = guarded.url;
    expect(await failureOf(createClient({ baseUrl }).chatModels())).toMatchObject({
      status: 401,
      code: 'unauthorized',
    });
    expect(await createClient({ baseUrl, apiKey: 'sesame' }).chatModels()).toMatchObject({ default: 'scripted' });
  });
});

describe('an abort', () => {
  const reason = new Error('the user has left');

  it('before the call prevents the request', async () => {
    const before = service.log.length;
    const signal = AbortSignal.abort(reason);
    await expect(client.transcribe(wav, { signal })).rejects.toBe(reason);
    await expect(collect(client.streamTranscription(wav, { signal }))).rejects.toBe(reason);
    await expect(client.chat(say('hello'), { signal })).rejects.toBe(reason);
    await expect(collect(client.streamChat(say('hello'), { signal }))).rejects.toBe(reason);
    await client.chatModels();
    await eventually(() => service.log.slice(before).filter(({ msg }) => msg === 'request')).toHaveLength(1);
  });
});

describe('a request', () => {
  const id = '../a b?c#d/é';
  const encoded = '..%2Fa%20b%3Fc%23d%2F%C3%A9';
  const authorization = 'Bearer sesame';
  const accept = 'application/json';

  it.each<[string, (client: Client) => Promise<unknown>, string, Record<string, string>, unknown?]>([
    [
      'transcriptions.get',
      ({ transcriptions }) => transcriptions.get(id, { wait: 5 }),
      `GET /transcriptions/${encoded}`,
      { accept, prefer: 'wait=5' },
    ],
    [
      'transcriptions.events',
      ({ transcriptions }) => transcriptions.events(id, { after: 3 }).next(),
      `GET /transcriptions/${encoded}/events`,
      { accept: 'text/event-stream', 'last-event-id': '3' },
    ],
    [
      'transcriptions.transcript',
      ({ transcriptions }) => transcriptions.transcript(id, { format: 'vtt' }),
      `GET /transcriptions/${encoded}/transcript?format=vtt`,
      { accept: 'text/vtt' },
    ],
    [
      'transcriptions.delete',
      ({ transcriptions }) => transcriptions.delete(id),
      `DELETE /transcriptions/${encoded}`,
      {},
    ],
    ['deleteClip', (client) => client.deleteClip(id), `DELETE /tts/clips/${encoded}`, {}],
    ['preparations.start', ({ preparations }) => preparations.start(id), `POST /preparations/${encoded}`, { accept }],
    ['preparations.stop', ({ preparations }) => preparations.stop(id), `DELETE /preparations/${encoded}`, { accept }],
    ['chatModels', (client) => client.chatModels(), 'GET /models', { accept }],
    ['chat', (client) => client.chat(say('東京')), 'POST /chat', { accept, 'content-type': accept }, say('東京')],
    [
      'speak',
      (client) => client.speak({ text: 'Hi.' }),
      'POST /tts',
      { accept: 'audio/*', 'content-type': accept },
      { text: 'Hi.' },
    ],
  ])('of %s is complete when `fetch` gets it', async (_name, call, line, headers, body) => {
    const requests: Request[] = [];
    const fetch: Fetch = (request) => {
      requests.push(request);
      return Promise.reject(new ParlanceError('unauthorized', 'Not sent.'));
    };
    const failure = await failureOf(call(createClient({ baseUrl: 'http://voice.test', apiKey: 'sesame', fetch })));
    expect(failure.message).toBe('Not sent.');
    const [request] = requests;
    expect(`${request!.method} ${request!.url.replace('http://voice.test/api/v1', '')}`).toBe(line);
    expect(Object.fromEntries(request!.headers)).toEqual({ authorization, ...headers });
    expect(await request!.text()).toBe(body === undefined ? '' : JSON.stringify(body));
  });
});

describe('the address', () => {
  it('may have a path and a trailing slash', async () => {
    const asked: string[] = [];
    const fetch = (request: Request) => {
      asked.push(request.url);
      return Promise.resolve(Response.json({ data: [], default: null }));
    };
    for (const baseUrl of ['http://voice.test', 'http://voice.test/', new URL('http://voice.test/parlance/')]) {
      await createClient({ baseUrl, fetch }).chatModels();
    }
    expect(asked).toEqual([
      'http://voice.test/api/v1/models',
      'http://voice.test/api/v1/models',
      'http://voice.test/parlance/api/v1/models',
    ]);
  });

  it('must be a valid URL', () => {
    expect(() => createClient({ baseUrl: 'voice' })).toThrow(TypeError);
    expect(() => createClient()).toThrow(TypeError);
  });
});
