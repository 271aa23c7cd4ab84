/** The forms of POST /v1/audio/transcriptions: order, repetition, brackets, limits. */
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { toFile, APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { boundary, multipart, multipartType, part, recording, wavHead, type FormField } from '../api/support/forms.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { calls, errorOf, fields, scriptedTranscription, sdkOf, sendForm, transcriptions } from './support/audio.ts';

vi.setConfig({ testTimeout: 60_000 }); // some send 25 MB, however busy the machine is

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scriptedTranscription);
});
afterAll(() => service[Symbol.asyncDispose]());

const lastCall = () => calls(service).at(-1);
const verbose = fields(['response_format', 'verbose_json']);
const dozen = fields(
  ['model', 'whisper-1'],
  ['language', 'de'],
  ['prompt', 'Names: Ada.'],
  ['temperature', '0'],
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
  ['timestamp_granularities[]', 'segment'],
  ['stream', 'false'],
  ['chunking_strategy[type]', 'server_vad'],
  ['chunking_strategy[threshold]', '0.5'],
  ['keywords[]', 'Ada'],
  ['keywords[]', 'Grace'],
);

describe('a form', () => {
  it.each([
    ['first', [recording, ...dozen]],
    ['last', [...dozen, recording]],
    ['in the middle', [...dozen.slice(0, 5), recording, ...dozen.slice(5)]],
  ])('may have its file %s', async (_place, parts: FormField[]) => {
    const { status, body } = await sendForm(service, parts);
    expect({ status, body }).toMatchObject({ status: 200, body: { words: expect.any(Array) as unknown } });
    expect(lastCall()).toEqual({
      model: 'full',
      language: 'de',
      prompt: 'Names: Ada. Ada, Grace',
      temperature: 0,
      timestamps: ['segment', 'word'],
    });
  });

  it.each([
    ['in brackets', ['timestamp_granularities[]', 'word']],
    ['without brackets', ['timestamp_granularities', 'word']],
  ] as const)('may name its granularity %s', async (_how, granularity) => {
    expect((await sendForm(service, [recording, ...verbose, ...fields(granularity)])).status).toBe(200);
    expect(lastCall()?.timestamps).toEqual(['word']);
  });

  it('may repeat a field without brackets', async () => {
    const both = fields(['timestamp_granularities', 'segment'], ['timestamp_granularities', 'word']);
    expect((await sendForm(service, [recording, ...verbose, ...both])).status).toBe(200);
    expect(lastCall()?.timestamps).toEqual(['segment', 'word']);
  });

  it('may be sent in chunks, without a length', async () => {
    const sending = request(service.url + transcriptions, { method: 'POST', headers: multipartType });
    const answered = new Promise<string>((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => void textOf(response).then(resolve, reject));
    });
    for (const byte of multipart(recording, ...dozen)) sending.write(Buffer.of(byte));
    sending.end();
    expect(JSON.parse(await answered)).toMatchObject({ text: 'Guten Morgen, Welt.' });
  });

  it('leaves empty fields out', async () => {
    const empty = ['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', 'include[]', 'diarize'];
    const { status } = await sendForm(service, [...empty.flatMap((name) => fields([name, ''])), recording]);
    expect(status).toBe(200);
    expect(lastCall()).toEqual({ model: 'full' });
  });
});

describe('a limit', () => {
  it.each([
    ['424 fields', Array.from({ length: 424 }, (_, i) => `field${i}`), 200],
    ['425 fields', Array.from({ length: 425 }, (_, i) => `field${i}`), 400],
  ])('of fields: %s', async (_what, names, status) => {
    const answer = await sendForm(service, [recording, ...names.flatMap((name) => fields([name, 'x']))]);
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(errorOf(answer)).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request' });
  });

  it('of a value: 8192 bytes', async () => {
    const send = (bytes: number) => sendForm(service, [recording, ...fields(['prompt', 'x'.repeat(bytes)])]);
    expect((await send(8192)).status).toBe(200);
    expect(lastCall()?.prompt).toHaveLength(8192);
    const answer = await send(8193);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).param).toBe('prompt');
  });

  it.each([
    ...['a[b]', 'a[0]', 'a[b][c]', 'a[][]', 'a[]b', 'a]', '[', '[]', '[b]', 'a[__proto__]', '__proto__[x]'],
    ...['model[id]', 'timestamp_granularities[0]', 'chunking_strategy[a][b]', 'chunking_strategy[__proto__][x]'],
    // Each of these made an array of that length.
    ...['timestamp_granularities[10000000]', 'keywords[4294967293]', 'zzz[20000000]'],
  ])('of brackets: %s is not the name of a field', async (name) => {
    const answer = await sendForm(service, [...fields([name, 'x'], ['zzz[b]', 'x']), recording]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param: name });
    expect(errorOf(answer).message).toMatch(/must have a plain field name/);
  });

  it.each(['zzz[]', 'keywords[]', '__proto__[]', 'chunking_strategy[type]'])('of brackets: %s is one', async (name) => {
    expect((await sendForm(service, [...fields([name, 'x'], [name, 'y']), recording])).status).toBe(200);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'does not take %s for more than a field',
    async (name) => {
      expect((await sendForm(service, [...fields([name, 'x'], [name, 'y']), recording])).status).toBe(200);
      expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
    },
  );

  it.each(fields(['model[]', 'full'], ['language[]', 'de'], ['response_format[]', 'json'], ['stream[]', 'false']))(
    'of a shape: $name is an array where none is possible',
    async (field) => {
      const answer = await sendForm(service, [field, recording]);
      expect(answer.status).toBe(400);
      expect(errorOf(answer).param).toBe(field.name.slice(0, -2));
    },
  );

  it('of an encoding: a field is text in UTF-8, or names another encoding that is known', async () => {
    const send = (charset: string) => {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="language"\r\n`;
      const language = Buffer.from(`${head}Content-Type: text/plain; charset=${charset}\r\n\r\nde\r\n`);
      const body = Buffer.concat([language, multipart(recording)]);
      return createApi(service.url).send('POST', transcriptions, { headers: multipartType, body });
    };
    expect((await send('ISO-8859-1')).status).toBe(200);
    expect(lastCall()?.language).toBe('de');
    expect((await send('none')).error).toMatchObject({ param: 'language', message: 'language must be text in UTF-8' });
  });

  test('of size: 26214400 bytes are transcribed, one more is a 413 that the SDK reads', async () => {
    const large = async (bytes: number) => {
      const file = await toFile(Buffer.concat([wavHead, Buffer.alloc(bytes - wavHead.length)]), 'large.wav');
      return sdkOf(service).audio.transcriptions.create({ file, model: 'whisper-1' });
    };
    expect(await large(26_214_400)).toMatchObject({ text: 'Guten Morgen, Welt.' });
    const refused = large(26_214_401);
    await expect(refused).rejects.toBeInstanceOf(APIError);
    await expect(refused).rejects.toMatchObject({ status: 413, param: 'file', code: 'recording_too_large' });
    await expect.poll(() => service.leftovers()).toEqual([]);
  });
});

describe('a form that is refused', () => {
  it.each([
    ['without a file', fields(['model', 'full']), 'file', 'invalid_request'],
    ['with an empty file', [{ ...recording, value: '' }], 'file', 'recording_empty'],
    ['with a file that is no recording', [{ ...recording, value: 'hello' }], 'file', 'recording_not_accepted'],
    ['with two files', [recording, recording], 'file', 'invalid_request'],
  ])('%s', async (_what, parts, param, code) => {
    const answer = await sendForm(service, parts);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ param, code });
  });

  it('with an unnamed part is rejected with an explanation', async () => {
    const nameless = `--${boundary}\r\nContent-Disposition: form-data\r\n\r\nx\r\n--${boundary}--\r\n`;
    const { status, error } = await createApi(service.url).send('POST', transcriptions, {
      headers: multipartType,
      body: nameless,
    });
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'invalid_request', message: 'the body must have a name for each part' });
  });

  it('as JSON is rejected with an explanation of the format', async () => {
    const response = await fetch(service.url + transcriptions, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'x', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching('multipart/form-data') as string },
    });
  });

  const announced = { ...multipartType, 'content-length': 20_000_000 };
  const fileHead = Buffer.from(part(recording).subarray(0, -2));

  it.each([
    ['a wrong value', fields(['temperature', '2']), 'temperature'],
    ['a field that is not supported', fields(['diarize', 'true']), 'diarize'],
    ['a model that is not there', fields(['model', 'absent']), 'model'],
    [
      'subtitles by a model without segments',
      fields(['response_format', 'srt'], ['model', 'plain']),
      'response_format',
    ],
  ])('for fields before the file is refused before the file has arrived: %s', async (_what, parts, param) => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', transcriptions, announced));
    await connection.send(Buffer.concat([...parts.map(part), fileHead]));
    const answer = await connection.answer('POST', transcriptions);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(errorOf(answer).param).toBe(param);
  });

  it.each([
    ['brackets in a name', fields(['zzz[b]', 'x'])],
    ['a name of 100,000 bytes', fields(['x'.repeat(100_000), 'x'])],
    ['10,000 fields', Array.from({ length: 10_000 }, () => fields(['keywords[]', 'x'])).flat()],
    ['a file as text', fields(['file', 'x'])],
    ['a second file', [recording, recording]],
    ['a file of another name', [{ ...recording, name: 'audio' }]],
  ])('for its parts is refused before its end, and nothing is stored: %s', async (_what, parts) => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', transcriptions, announced));
    await connection.send(Buffer.concat([...parts.map(part), fileHead]));
    expect(await connection.answer('POST', transcriptions)).toMatchObject({ status: 400 });
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  it('is not rejected for reasons that later fields may resolve', async () => {
    const before = fields(['timestamp_granularities[]', 'word'], ['response_format', 'verbose_json']);
    const after = fields(['model', 'full']);
    expect((await sendForm(service, [...before, recording, ...after])).status).toBe(200);
    const granularity = fields(['timestamp_granularities[]', 'word'], ['model', 'full']);
    expect((await sendForm(service, [...granularity, recording, ...verbose])).status).toBe(200);
  });
});
