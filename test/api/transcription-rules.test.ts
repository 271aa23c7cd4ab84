/** The tables of the interface document for transcription (2.1 to 2.3, 4.1, 4.2), rule by rule. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { createApi, type Answer, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { echo, type Echo } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { boundary, multipart, multipartType, recording, wavHead, type FormField } from './support/forms.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

const path = '/api/v1/transcribe';
const limit = 26_214_400;

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService(echo);
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const sendRaw = (body: Buffer, headers: Readonly<Record<string, string>> = multipartType) =>
  api.send('POST', path, { headers, body });
const sendForm = (...fields: readonly FormField[]) => sendRaw(multipart(...fields));
const field = (name: string, value: string): FormField => ({ name, value });

/** What the engine was handed. */
function handed(answer: Answer): Echo {
  expect(answer).toMatchObject({ status: 200 });
  return JSON.parse((answer.body as Schemas['Transcription']).text) as Echo;
}

function expectProblem({ status, problem }: Answer, code: string, pointer: string, detail: string | RegExp): void {
  expect({ status, code: problem.code }).toEqual({ status: 422, code });
  expect(problem.errors).toEqual([{ in: 'body', pointer, detail: expect.stringMatching(detail) as unknown }]);
}

describe('the field file', () => {
  it('contains the recording', async () => {
    expect(handed(await sendForm(recording))).toEqual({ model: 'first', bytes: wavHead.length, container: 'wav' });
  });

  it.each([
    ['webm', '\x1a\x45\xdf\xa3'],
    ['mp4', '\0\0\0\x18ftypM4A '],
    ['ogg', 'OggS\0\x02'],
    ['mp3', 'ID3\x04\0\0\0\0\0\0\xff\xfb\x90\x64'],
    ['mp3', '\xff\xfb\x90\x64'],
    ['wav', 'RIFF\0\0\0\0WAVEfmt '],
    ['flac', 'fLaC\0\0\0\x22'],
  ])('is detected by its content, not by name and type: %s', async (container, head) => {
    const value = Buffer.from(head, 'latin1');
    for (const filename of ['memo.pdf', '../../etc/passwd', 'a%22b\u{1F600}.exe', 'blob']) {
      expect(handed(await sendForm({ name: 'file', value, filename }))).toMatchObject({ container });
    }
  });

  it.each([
    ['a PDF document', '%PDF-1.7'],
    ['a PNG image', '\x89PNG\r\n\x1a\n'],
    ['a ZIP archive', 'PK\x03\x04'],
    ['an XML or HTML document', '<!doctype html>'],
    ['an HLS playlist', '#EXTM3U\n'],
    ['AAC audio without a container', '\xff\xf1\x50\x80'],
    ['text', 'Hello'],
    ['data that starts with the bytes 00 01 02', '\0\x01\x02'],
  ])('may not be %s', async (detected, head) => {
    const answer = await sendForm({ ...recording, value: Buffer.from(head, 'latin1') });
    const places = /^is .*; supported: webm, mp4, ogg, mp3, wav, flac$/;
    expectProblem(answer, 'recording-not-accepted', '/file', places);
    expect(answer.problem.detail).toContain(detected);
  });

  it('is required', async () => {
    expectProblem(await sendForm(field('language', 'de')), 'invalid-request', '/file', /^is missing/);
  });

  it('is required in a form without fields', async () => {
    expectProblem(await sendForm(), 'invalid-request', '/file', /^is missing/);
  });

  it('is required when there is no body', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, multipartType));
    expectProblem(await connection.answer('POST', path), 'invalid-request', '/file', /^is missing/);
  });

  it.each([12, 6_000])('must not be a text field, as a part of %i bytes without a filename is', async (length) => {
    const answer = await sendForm(field('file', 'RIFF....WAVE'.padEnd(length)));
    expectProblem(answer, 'invalid-request', '/file', 'must be a file, not a text field; a file part has a filename');
  });

  it('must not be a text field next to a file', async () => {
    const answer = await sendForm(recording, field('file', 'x'));
    expectProblem(answer, 'invalid-request', '/file', /must be a file/);
  });

  it('must not be repeated', async () => {
    expectProblem(await sendForm(recording, recording), 'invalid-request', '/file', /must be a single file/);
  });

  it('must be the only file', async () => {
    const answer = await sendForm(recording, { ...recording, name: 'second' });
    expectProblem(answer, 'invalid-request', '/file', /must be a single file/);
  });

  it('must have this name', async () => {
    const answer = await sendForm({ ...recording, name: 'audio' });
    expectProblem(answer, 'invalid-request', '/file', /is missing; found a file in the field "audio"/);
  });

  it('must not be empty', async () => {
    const answer = await sendForm({ ...recording, value: '' });
    expectProblem(answer, 'recording-empty', '/file', 'must not be empty');
  });

  it('must not be an empty file input', async () => {
    const answer = await sendForm({ ...recording, value: '', filename: '', type: 'application/octet-stream' });
    expectProblem(answer, 'invalid-request', '/file', /^is missing/);
  });

  it('may have 25 MB', async () => {
    const value = Buffer.alloc(limit);
    value.set(wavHead);
    expect(handed(await sendForm({ ...recording, value }))).toMatchObject({ bytes: limit });
  });

  it('is sniffed at 25 MB', async () => {
    const answer = await sendForm({ ...recording, value: Buffer.alloc(limit) });
    expectProblem(answer, 'recording-not-accepted', '/file', /supported: /);
  });

  it('must not exceed 25 MB by one byte', async () => {
    const answer = await sendForm({ ...recording, value: Buffer.alloc(limit + 1) });
    expectProblem(answer, 'recording-too-large', '/file', `must not have more than ${limit} bytes`);
    expect(answer.problem.detail).toContain('25 MB');
  });
});

describe('the field language', () => {
  it.each(['de', 'en', 'zz'])('may be %s', async (language) => {
    expect(handed(await sendForm(recording, field('language', language)))).toMatchObject({ language });
  });

  it.each(['DE', 'De', 'deu', 'd', 'english', 'de-DE', 'd1', ' de', 'de\n', 'dé', 'auto'])(
    'may not be %j',
    async (language) => {
      const answer = await sendForm(recording, field('language', language));
      expectProblem(answer, 'invalid-request', '/language', /must match pattern/);
    },
  );

  it('counts as absent when it is empty', async () => {
    expect(handed(await sendForm(recording, field('language', '')))).not.toHaveProperty('language');
  });

  it('must not be repeated', async () => {
    const answer = await sendForm(recording, field('language', 'de'), field('language', 'de'));
    expectProblem(answer, 'invalid-request', '/language', 'must be string');
  });

  it('is validated before the recording', async () => {
    const answer = await sendForm(recording, field('language', 'english'), field('model', 'none'));
    expect(answer.problem).toMatchObject({ code: 'invalid-request' });
  });

  it('may precede the recording', async () => {
    expect(handed(await sendForm(field('language', 'fr'), recording))).toMatchObject({ language: 'fr' });
  });
});

describe('the field keywords', () => {
  const second = field('model', 'second');

  it('has names and terms, separated by commas', async () => {
    const keywords = field('keywords', 'Ada Lovelace, Grace\nHopper,, ');
    expect(handed(await sendForm(second, keywords, recording))).toMatchObject({
      keywords: ['Ada Lovelace', 'Grace Hopper'],
    });
  });

  it('may have 1,000 characters', async () => {
    expect(handed(await sendForm(second, field('keywords', '語'.repeat(1_000)), recording))).toHaveProperty('keywords');
    const answer = await sendForm(second, field('keywords', 'x'.repeat(1_001)), recording);
    expectProblem(answer, 'invalid-request', '/keywords', 'must NOT have more than 1000 characters');
  });

  it.each(['first', undefined])('needs a model that supports it, before or behind the recording: %s', async (model) => {
    const fields = [field('keywords', 'Ada'), ...(model === undefined ? [] : [field('model', model)])];
    for (const form of [
      [...fields, recording],
      [recording, ...fields],
    ]) {
      const answer = await sendForm(...form);
      expectProblem(answer, 'parameter-not-supported', '/keywords', 'must be something that the model supports');
    }
  });
});

describe('the field model', () => {
  it('selects the model', async () => {
    const answer = await sendForm(recording, field('model', 'second'));
    expect(handed(answer)).toMatchObject({ model: 'second' });
    expect(answer.body).toMatchObject({ model: 'second' });
  });

  it('counts as absent when it is empty', async () => {
    expect(handed(await sendForm(recording, field('model', '')))).toMatchObject({ model: 'first' });
  });

  it.each(['third', 'First', ' first', '__proto__', 'x'.repeat(256)])(
    'may not be an id that is not listed: %s',
    async (model) => {
      const answer = await sendForm(recording, field('model', model));
      expectProblem(answer, 'unknown-model', '/model', 'must be the id of a listed model');
      expect(answer.problem.detail).toContain('valid are: first, second.');
    },
  );

  it('must not have more than 256 characters', async () => {
    const answer = await sendForm(recording, field('model', 'x'.repeat(257)));
    expectProblem(answer, 'invalid-request', '/model', 'must NOT have more than 256 characters');
  });

  it('must not be repeated', async () => {
    const answer = await sendForm(recording, field('model', 'first'), field('model', 'first'));
    expectProblem(answer, 'invalid-request', '/model', 'must be string');
  });

  it('defaults to TRANSCRIBE_MODEL', async () => {
    await using other = await startTestService({ ...echo, env: { TRANSCRIBE_MODEL: 'second' } });
    const otherApi = createApi(other.url);
    const answer = await otherApi.send('POST', path, { headers: multipartType, body: multipart(recording) });
    expect(handed(answer)).toMatchObject({ model: 'second' });
    expect((await otherApi.get(path)).body).toMatchObject({ model: 'second', available: true });
    expect((await otherApi.get('/api/v1/transcribe/models')).body).toMatchObject({ default: 'second' });
  });
});

describe('other fields', () => {
  it('are ignored', async () => {
    const others = ['prompt', 'response_format', '__proto__', 'constructor', 'toString', 'file~/name'];
    const answer = await sendForm(recording, ...others.map((name) => field(name, 'x')));
    expect(handed(answer)).toMatchObject({ model: 'first' });
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('may be thirty-two in all', async () => {
    const fields = Array.from({ length: 32 }, (_, i) => field(`field-${i}`, 'x'));
    expect(handed(await sendForm(recording, ...fields))).toMatchObject({ model: 'first' });
    const answer = await sendForm(recording, ...fields, field('thirty-third', 'x'));
    expectProblem(answer, 'invalid-request', '', 'must not have more than 32 fields besides the recording');
  });

  it('are limited in number', async () => {
    const flood = Array.from({ length: 50_000 }, (_, i) => field(`field-${i}`, ''));
    expectProblem(await sendForm(...flood, recording), 'invalid-request', '', 'must not have more than 32 fields');
  });

  it('are limited in length', async () => {
    const value = (length: number) => field('prompt', 'x'.repeat(length));
    expect(handed(await sendForm(recording, value(4096)))).toMatchObject({ model: 'first' });
    const answer = await sendForm(recording, value(4097));
    expectProblem(answer, 'invalid-request', '/prompt', 'must not have more than 4096 bytes');
  });

  it('are limited in the length of their names', async () => {
    expect(handed(await sendForm(recording, field('x'.repeat(100), 'x')))).toMatchObject({ model: 'first' });
    for (const tooLong of [field('x'.repeat(101), 'x'), { ...recording, name: 'x'.repeat(101) }]) {
      expectProblem(await sendForm(tooLong), 'invalid-request', '', 'must not have field names of more than 100 bytes');
    }
  });

  it.each(['a[b]', 'a[]', 'a[0]', 'a[b][c]', '__proto__[polluted]', 'constructor[prototype][polluted]'])(
    'may not have names that nest: %s',
    async (name) => {
      const answer = await sendForm(recording, field(name, 'x'));
      expectProblem(answer, 'invalid-request', `/${name}`, /without brackets/);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it('must have a name', async () => {
    const nameless = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data\r\n\r\nx\r\n`);
    const answer = await sendRaw(Buffer.concat([nameless, multipart(recording)]));
    expectProblem(answer, 'invalid-request', '', /a name for each part/);
  });
});

describe('the multipart body', () => {
  const whole = multipart(recording);
  const malformed = (answer: Answer) => expectProblem(answer, 'malformed-body', '', /well-formed multipart/);

  it.each([
    ['cut off within the recording', whole.subarray(0, -(boundary.length + 10))],
    ['cut off before its last two hyphens', whole.subarray(0, -4)],
    ['cut off within the head of a part', whole.subarray(0, boundary.length + 30)],
    ['of another boundary', Buffer.from(whole.toString('latin1').replaceAll(boundary, 'another'), 'latin1')],
    ['of random text', Buffer.from('Hello')],
    ['empty', Buffer.alloc(0)],
    [
      'with a head that never ends',
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${'x'.repeat(100_000)}`),
    ],
  ])('may not be %s', async (_what, body) => {
    malformed(await sendRaw(body));
  });

  it('must have a boundary in its content type', async () => {
    malformed(await sendRaw(whole, { 'content-type': 'multipart/form-data' }));
  });

  it.each([
    'application/json',
    'audio/webm',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    `multipart/mixed; boundary=${boundary}`,
  ])('may not be sent as %s', async (type) => {
    const { status, problem } = await sendRaw(whole, { 'content-type': type });
    expect({ status, code: problem.code }).toEqual({ status: 415, code: 'unsupported-media-type' });
    expect(problem.detail).toContain('multipart/form-data');
  });

  it('must have a content type', async () => {
    expect((await sendRaw(whole, {})).status).toBe(415);
  });

  it('may be sent in chunks', async () => {
    const answer = await sendRaw(whole, { ...multipartType, 'transfer-encoding': 'chunked' });
    expect(handed(answer)).toMatchObject({ bytes: wavHead.length });
  });

  it('may have a preamble and an epilogue', async () => {
    const body = Buffer.concat([Buffer.from('preamble\r\n'), whole, Buffer.from('epilogue')]);
    expect(handed(await sendRaw(body))).toMatchObject({ bytes: wavHead.length });
  });

  it('may contain a recording with a near-boundary', async () => {
    const value = Buffer.concat([wavHead, Buffer.from(`\r\n--${boundary.slice(0, -1)}\r\n--\r\n`)]);
    expect(handed(await sendRaw(multipart({ ...recording, value })))).toMatchObject({ bytes: value.length });
  });

  it('may be sent with query parameters', async () => {
    const answer = await api.send('POST', `${path}?language=english&x=1`, { headers: multipartType, body: whole });
    expect(handed(answer)).not.toHaveProperty('language');
  });
});

describe('GET /api/v1/transcribe', () => {
  const probe = async (query = '') => (await api.get(`${path}${query}`)).body;

  it('reports the availability of the default model', async () => {
    expect(await probe()).toEqual({ available: true, code: 'ready', reason: 'Ready.', model: 'first' });
  });

  it('reports the availability of the requested model', async () => {
    expect(await probe('?model=second')).toMatchObject({ available: true, model: 'second' });
  });

  it('treats an empty model as absent', async () => {
    expect(await probe('?model=')).toMatchObject({ available: true, model: 'first' });
    expect(await probe('?model')).toMatchObject({ available: true, model: 'first' });
  });

  it('responds with 200 for an unknown model and names the known ones', async () => {
    const answer = await probe('?model=third%20one');
    expect(answer).toMatchObject({ available: false, code: 'unknown-model', model: 'third one' });
    expect(answer).toMatchObject({ reason: expect.stringContaining('first, second') as unknown });
  });

  it('does not split a model at commas', async () => {
    expect(await probe('?model=a,b')).toMatchObject({ code: 'unknown-model', model: 'a,b' });
  });

  it('ignores unknown query parameters', async () => {
    expect(await probe('?language=de&model=second&model%5B%5D=x')).toMatchObject({ model: 'second' });
  });

  it.each([
    ['two models', '?model=first&model=second', 'must be string'],
    ['a model of 257 characters', `?model=${'x'.repeat(257)}`, 'must NOT have more than 256 characters'],
  ])('refuses %s', async (_what, query, detail) => {
    const { status, problem } = await api.get(`${path}${query}`);
    expect(status).toBe(422);
    expect(problem.errors).toEqual([{ in: 'query', pointer: '/model', detail }]);
  });

  it('reports that no engine is configured', async () => {
    await using empty = await startTestService({ config: 'engines: {}' });
    const emptyApi = createApi(empty.url);
    expect((await emptyApi.get(path)).body).toMatchObject({ available: false, code: 'no-model', model: '' });
    expect((await emptyApi.get(`${path}?model=x`)).body).toMatchObject({ code: 'no-model', model: 'x' });
    const { status, problem } = await emptyApi.send('POST', path, {
      headers: multipartType,
      body: multipart(recording),
    });
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'no-engine' });
  });
});

describe('TRANSCRIBE_ENABLED=false', () => {
  let disabled: TestService;
  let disabledApi: Api;
  const token = { authorization: 'Bearer right' };

  beforeAll(async () => {
    disabled = await startTestService({ ...echo, env: { TRANSCRIBE_ENABLED: 'false', API_KEYS: 'right' } });
    disabledApi = createApi(disabled.url);
  });
  afterAll(() => disabled[Symbol.asyncDispose]());

  const head = (headers: Readonly<Record<string, string>>) =>
    requestHead('POST', path, { ...multipartType, 'content-length': 20_000_000, ...headers });

  it('responds with 503 to a recording', async () => {
    const { status, problem } = await disabledApi.send('POST', path, {
      headers: { ...multipartType, ...token },
      body: multipart(recording),
    });
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'transcription-disabled' });
    expect(problem.detail).toContain('TRANSCRIBE_ENABLED');
  });

  it('responds before the body is sent', async () => {
    using connection = await connectRaw(disabled.url);
    await connection.send(head(token));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 503 });
  });

  it('responds instead of sending 100 Continue', async () => {
    using connection = await connectRaw(disabled.url);
    await connection.send(head({ ...token, expect: '100-continue' }));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 503 });
    expect(connection.received).not.toContain('100 Continue');
  });

  it('responds the same for any invalid body', async () => {
    const { problem } = await disabledApi.send('POST', path, { headers: { ...token, 'content-type': 'text/plain' } });
    expect(problem.code).toBe('transcription-disabled');
  });

  it('responds with 401 without a key', async () => {
    using connection = await connectRaw(disabled.url);
    await connection.send(head({}));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 401 });
  });

  it.each(['', '?model=second', '?model=third'])(
    'makes the probe say disabled: GET /api/v1/transcribe%s',
    async (query) => {
      const { body } = await disabledApi.get(`${path}${query}`, token);
      expect(body).toMatchObject({ available: false, code: 'disabled' });
    },
  );

  it('lists the models as disabled', async () => {
    const { body } = await disabledApi.get('/api/v1/transcribe/models', token);
    const { data } = body as Schemas['ModelList'];
    expect(data.map(({ available, code }) => ({ available, code }))).toEqual([
      { available: false, code: 'disabled' },
      { available: false, code: 'disabled' },
    ]);
  });
});

describe('after any failed upload', () => {
  it('leaves no files', async () => {
    await eventually(() => service.leftovers()).toEqual([]);
  });
});
