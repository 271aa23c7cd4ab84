/** Recordings in any language as English text. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multipartType, part } from '../api/support/forms.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  calls,
  errorOf,
  fields,
  file,
  scriptedTranscription,
  sdkOf,
  sendForm,
  speech,
  translations,
  type Pair,
} from './support/audio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scriptedTranscription);
});
afterAll(() => service[Symbol.asyncDispose]());

const lastCall = () => calls(service).at(-1);
const send = (...more: readonly Pair[]) =>
  sendForm(service, [...fields(['model', 'translator'], ...more), file()], {}, translations);

describe('a translation', () => {
  test('by the SDK is English text', async () => {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- what people have written calls it
    const answer = await sdkOf(service).audio.translations.create({ file: speech(), model: 'translator' });
    expect(answer).toMatchObject({ text: 'Good morning, world.', usage: { type: 'duration', seconds: 3 } });
    expect(lastCall()).toEqual({ model: 'translator', translate: true });
  });

  test('has the formats of a transcription', async () => {
    expect((await send(['response_format', 'text'])).body).toBe('Good morning, world.');
    expect((await send(['response_format', 'srt'])).body).toBe(
      '1\n00:00:00,000 --> 00:00:02,000\nGood morning, world.\n\n',
    );
    expect((await send(['response_format', 'vtt'])).body).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nGood morning, world.\n\n',
    );
    expect((await send(['response_format', 'verbose_json'])).body).toMatchObject({
      ...{ task: 'translate', language: 'english', duration: 2.099, text: 'Good morning, world.' },
      segments: [{ id: 0, start: 0, end: 2, text: 'Good morning, world.' }],
    });
  });

  test('takes a prompt and keywords, and drops other hints by name', async () => {
    const { headers } = await send(['prompt', 'A talk.'], ['keywords[]', 'Ada'], ['temperature', '0.5']);
    expect(headers.get('x-parlance-ignored')).toBe('temperature');
    expect(lastCall()).toEqual({ model: 'translator', translate: true, prompt: 'A talk. Ada' });
  });

  test.each([
    ['a language', ['language', 'en'], 'language'],
    ['a stream', ['stream', 'true'], 'stream'],
    ['times of words', ['timestamp_granularities[]', 'word'], 'timestamp_granularities'],
    ['lines of a width', ['max_line_width', '40'], 'max_line_width'],
    ['speakers', ['response_format', 'diarized_json'], 'response_format'],
    ['an unknown format', ['response_format', 'pdf'], 'response_format'],
  ] as const)('with %s is refused by name', async (_what, field, param) => {
    const answer = await send(field);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).param).toBe(param);
  });

  test('by a model that cannot translate is refused before the recording has arrived', async () => {
    const head = requestHead('POST', translations, { ...multipartType, 'content-length': 20_000_000 });
    using connection = await connectRaw(service.url);
    await connection.send(head);
    await connection.send(Buffer.concat([...fields(['model', 'full']), file()].map(part)));
    const answer = await connection.answer('POST', translations);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ param: 'model', code: 'unsupported_parameter' });
  });
});

test('in the native API it is a task', async () => {
  const body = new FormData();
  body.set('model', 'translator');
  body.set('task', 'translate');
  body.set('file', speech());
  const answer = await fetch(`${service.url}/api/v1/transcribe`, { method: 'POST', body });
  expect(await answer.json()).toEqual({
    ...{ text: 'Good morning, world.', language: 'de', duration_ms: 2099, model: 'translator' },
  });
  body.set('model', 'full');
  const refused = await fetch(`${service.url}/api/v1/transcribe`, { method: 'POST', body });
  expect(await refused.json()).toMatchObject({
    status: 422,
    code: 'parameter-not-supported',
    errors: [{ pointer: '/task' }],
  });
});
