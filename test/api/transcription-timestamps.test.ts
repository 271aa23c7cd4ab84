/** The form field `timestamps` of POST /api/v1/transcribe and POST /api/v1/transcribe/stream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transcript } from '../../engines/contract/index.ts';
import { readEventStream } from '../support/event-stream.ts';
import { createApi, type Answer, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { formOf, recordingOf, result, scripted, timed, wire, type Script } from '../transcription/support/script.ts';
import { multipart, multipartType, part, recording } from './support/forms.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService(scripted);
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const begun = () => service.log.filter(({ msg }) => msg === 'began');

/** The result of either operation. */
const ways: Readonly<Record<string, (answer: Answer) => unknown>> = {
  '/api/v1/transcribe': ({ body }) => body,
  '/api/v1/transcribe/stream': ({ text }) => readEventStream(text, (what) => new Error(what)).at(-1)?.result,
};

describe.each(Object.entries(ways))('POST %s', (path, resultOf) => {
  const send = (script: Script, fields: Readonly<Record<string, string>> = {}) =>
    api.send('POST', path, formOf(script, fields));
  const transcribed = async (transcript: Transcript, fields: Readonly<Record<string, string>> = {}) => {
    const answer = await send([result(transcript)], fields);
    expect(answer.status, answer.text).toBe(200);
    return resultOf(answer);
  };

  it.each([
    ['absent', {}],
    ['empty', { timestamps: '' }],
    ['none', { timestamps: 'none' }],
  ])('has no timestamps when the field is %s', async (_what, fields) => {
    expect(await transcribed(timed, fields)).toEqual({ ...wire.plain, model: 'words' });
    expect(begun().at(-1)).not.toHaveProperty('timestamps');
  });

  it('segment adds segments', async () => {
    const { segments } = wire;
    expect(await transcribed(timed, { timestamps: 'segment' })).toEqual({ ...wire.plain, model: 'words', segments });
    expect(begun().at(-1)).toMatchObject({ timestamps: ['segment'] });
  });

  it('word adds segments and words', async () => {
    const { segments, words } = wire;
    const expected = { ...wire.plain, model: 'words', segments, words };
    expect(await transcribed(timed, { timestamps: 'word' })).toEqual(expected);
    expect(begun().at(-1)).toMatchObject({ timestamps: ['segment', 'word'] });
  });

  it('is an empty list for silence, also if the engine omits it', async () => {
    const silence = { text: '', language: null };
    expect(await transcribed(silence, { timestamps: 'word' })).toMatchObject({ text: '', segments: [], words: [] });
    expect(await transcribed({ ...silence, segments: [] }, { timestamps: 'segment' })).toEqual({
      ...{ ...silence, model: 'words' },
      segments: [],
    });
  });

  it.each(['words', 'Word', 'segment,word', 'true'])('may not be %s', async (timestamps) => {
    const { status, problem } = await send([result(timed)], { timestamps });
    expect({ status, code: problem.code }).toEqual({ status: 422, code: 'invalid-request' });
    expect(problem.errors).toMatchObject([{ in: 'body', pointer: '/timestamps' }]);
  });

  it.each([
    ['segment', 'plain', 'segments'],
    ['word', 'plain', 'segments'],
    ['word', 'segments', 'words'],
  ])('%s is refused for the model %s, before the engine is asked', async (timestamps, model, lacking) => {
    const before = begun().length;
    const fields = [
      { name: 'timestamps', value: timestamps },
      { name: 'model', value: model },
    ];
    const file = recordingOf([result(timed)]);
    for (const order of [
      [...fields, file],
      [file, ...fields],
    ]) {
      const { status, problem } = await api.send('POST', path, { headers: multipartType, body: multipart(...order) });
      expect({ status, code: problem.code }).toEqual({ status: 422, code: 'parameter-not-supported' });
      expect(problem.detail).toBe(`The model "${model}" does not support timestamps of ${lacking}.`);
      expect(problem.errors).toEqual([
        { in: 'body', pointer: '/timestamps', detail: 'must be something that the model supports' },
      ]);
    }
    expect(begun()).toHaveLength(before);
  });

  it('is refused before the recording arrives, when the fields precede it', async () => {
    using connection = await connectRaw(service.url);
    await connection.send(requestHead('POST', path, { ...multipartType, 'content-length': 1_000_000 }));
    await connection.send(part({ name: 'model', value: 'plain' }));
    await connection.send(part({ name: 'timestamps', value: 'word' }));
    await connection.send(part({ ...recording, value: Buffer.alloc(10_000, recording.value) }).subarray(0, -2));
    const { problem } = await connection.answer('POST', path);
    expect(problem.code).toBe('parameter-not-supported');
    await expect.poll(() => service.leftovers()).toEqual([]);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });

  it('may precede the file and its model follow', async () => {
    await using plain = await startTestService({ ...scripted, env: { TRANSCRIBE_MODEL: 'plain' } });
    const model = { name: 'model', value: 'words' };
    const body = multipart({ name: 'timestamps', value: 'word' }, recordingOf([result(timed)]), model);
    const answer = await createApi(plain.url).send('POST', path, { headers: multipartType, body });
    expect(resultOf(answer)).toMatchObject({ model: 'words', words: wire.words });
    const { problem } = await createApi(plain.url).send('POST', path, formOf([result(timed)], { timestamps: 'word' }));
    expect(problem.code).toBe('parameter-not-supported');
  });

  it('does not hide what else is wrong with the form', async () => {
    const wrong = { timestamps: 'word', language: 'english' };
    expect((await send([result(timed)], { ...wrong, model: 'absent' })).problem.code).toBe('invalid-request');
    expect((await send([result(timed)], { timestamps: 'word', model: 'absent' })).problem.code).toBe('unknown-model');
    const twice = [
      { name: 'timestamps', value: 'word' },
      { name: 'timestamps', value: 'word' },
      { name: 'model', value: 'plain' },
    ];
    const body = multipart(...twice, recordingOf([result(timed)]));
    const { problem } = await api.send('POST', path, { headers: multipartType, body });
    expect(problem.code).toBe('invalid-request');
  });

  it('is engine-failed when the engine omits them', async () => {
    const { segments, ...others } = timed;
    for (const transcript of [others, { ...others, segments, words: undefined }]) {
      const { status, problem } = await send([{ result: transcript }], { timestamps: 'word' });
      expect({ status, code: problem.code }).toEqual({ status: 500, code: 'engine-failed' });
    }
  });
});
