/** POST /v1/audio/transcriptions with the openai SDK. */
import type { TranscriptionDiarized, TranscriptionStreamEvent } from 'openai/resources/audio/transcriptions';
import { BadRequestError, NotFoundError, APIError } from 'openai';
import { createReadStream } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wavHeader } from '../../lib/wav.ts';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { serveSandbox } from '../sandbox/support.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { readSubtitles } from '../support/subtitles.ts';
import {
  calls,
  errorOf,
  fields,
  file,
  scriptedTranscription,
  sdkOf,
  sendForm,
  speech,
  type Pair,
} from './support/audio.ts';
import { expectDiarized, expectStreamEvent } from './support/diarized.ts';

const text = 'The sandbox has heard a recording.';
const languages = [{ code: 'en' }];
interface StreamEvent {
  readonly type: string;
  readonly delta?: string;
  readonly text?: string;
}

/** The SDK has no types for a stream whose request is not literal. */
async function eventsOf(stream: unknown): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream as AsyncIterable<StreamEvent>) events.push(event);
  return events;
}

const silence = () => new File([wavHeader(32_000), new Uint8Array(32_000)], 'silence.wav');

describe('with the sandbox', () => {
  const sandbox = serveSandbox();
  const create = (more: object = {}, recording: object = speech()) =>
    sdkOf(sandbox.service).audio.transcriptions.create({ file: recording as File, model: 'whisper-1', ...more });

  test('json is the default', async () => {
    expect(await create()).toEqual({ text, languages, usage: { type: 'duration', seconds: 3 } });
    expect(await create({ response_format: 'json' })).toEqual({
      text,
      languages,
      usage: { type: 'duration', seconds: 3 },
    });
  });

  test('a file stream is sent in chunks without a length', async () => {
    expect(await create({}, createReadStream(spokenWords))).toMatchObject({ text });
  });

  test('text, srt and vtt are strings', async () => {
    expect(await create({ response_format: 'text' })).toBe(text);
    const srt = (await create({ response_format: 'srt' })) as unknown as string;
    const vtt = (await create({ response_format: 'vtt' })) as unknown as string;
    expect(srt).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nThe sandbox\n\n2\n/);
    expect(vtt).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nThe sandbox\n\n0/);
    const cues = readSubtitles(srt);
    expect(readSubtitles(vtt)).toEqual(cues);
    expect(cues.map((cue) => cue.text).join(' ')).toBe(text);
    expect(cues.at(-1)!.to).toBeLessThanOrEqual(2100);
  });

  test('subtitles have lines of the asked width', async () => {
    const srt = (await create({ response_format: 'srt', max_line_width: 12, max_line_count: 1 })) as unknown as string;
    const cues = readSubtitles(srt);
    expect(cues.map((cue) => cue.text).join(' ')).toBe(text);
    for (const cue of cues) expect(cue.text.length).toBeLessThanOrEqual(12);
    const two = (await create({ response_format: 'vtt', max_line_width: 12 })) as unknown as string;
    expect(
      readSubtitles(two)
        .map((cue) => cue.text.replaceAll('\n', ' '))
        .join(' '),
    ).toBe(text);
    expect(readSubtitles(two).length).toBeLessThan(cues.length);
  });

  test('verbose_json has both granularities', async () => {
    const verbose = await sdkOf(sandbox.service).audio.transcriptions.create({
      ...{ file: speech(), model: 'whisper-1', response_format: 'verbose_json' },
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose).toMatchObject({ task: 'transcribe', language: 'english', duration: 2.1, text });
    const { segments = [], words = [], usage } = verbose;
    expect(usage).toEqual({ type: 'duration', seconds: 3 });
    expect(segments.map((segment) => segment.text).join('')).toBe(text);
    expect(words.map(({ word }) => word).join(' ')).toBe(text);
    for (const times of [segments, words]) {
      const starts = times.map(({ start }) => start);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      for (const { start, end } of times) {
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(2.1);
      }
    }
  });

  test('verbose_json has segments by default, and only what was asked for', async () => {
    const keysWith = async (...granularities: ('word' | 'segment')[]) => {
      const more = granularities.length > 0 && { timestamp_granularities: granularities };
      const given = await create({ response_format: 'verbose_json', ...more });
      return Object.keys(given).filter((key) => key === 'segments' || key === 'words');
    };
    expect(await keysWith()).toEqual(['segments']);
    expect(await keysWith('segment')).toEqual(['segments']);
    expect(await keysWith('word')).toEqual(['words']);
  });

  test('silence is a success in every format', async () => {
    const inFormat = (response_format: string) => create({ response_format }, silence());
    expect(await inFormat('json')).toMatchObject({ text: '' });
    expect(await inFormat('text')).toBe('');
    expect(await inFormat('srt')).toBe('');
    expect(await inFormat('vtt')).toBe('WEBVTT\n\n');
    const verbose = await inFormat('verbose_json');
    expect(verbose).toEqual({
      task: 'transcribe',
      languages: [],
      duration: 1,
      text: '',
      segments: [],
      usage: { type: 'duration', seconds: 1 },
    });
    const events = await create({ stream: true }, silence());
    expect(await eventsOf(events)).toEqual([{ type: 'transcript.text.done', text: '', languages: [] }]);
  });

  test.each([
    ['text', 'text/plain; charset=utf-8'],
    ['srt', 'text/plain; charset=utf-8'],
    ['vtt', 'text/vtt; charset=utf-8'],
    ['json', 'application/json; charset=utf-8'],
  ])('%s has the media type %s', async (format, mediaType) => {
    const { headers } = await sendForm(sandbox.service, [file(), ...fields(['response_format', format])]);
    expect(headers.get('content-type')).toBe(mediaType);
  });

  test('a stream has a delta for each segment; they are the text of its last event', async () => {
    const events = await sdkOf(sandbox.service).audio.transcriptions.create({
      ...{ file: speech(), model: 'gpt-4o-transcribe', stream: true },
    });
    const seen: { type: string; delta?: string; text?: string }[] = [];
    for await (const event of events) seen.push(event);
    expect(seen.slice(0, -1).map(({ delta }) => delta)).toEqual(['The sandbox', ' has heard', ' a recording.']);
    expect(seen.at(-1)).toEqual({ type: 'transcript.text.done', text, languages });
  });

  test('a stream is data lines that end with [DONE]', async () => {
    const { headers, text: stream } = await sendForm(sandbox.service, [file(), ...fields(['stream', 'true'])]);
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    const lines = stream.split('\n\n').filter((line) => !line.startsWith(':') && line !== '');
    expect(lines.every((line) => line.startsWith('data: '))).toBe(true);
    expect(lines.at(-1)).toBe('data: [DONE]');
  });

  test.each(['de', 'de-DE', 'de_DE', 'german', 'German', 'deu'])('the language %s is German', async (language) => {
    expect(await create({ language })).toMatchObject({ text: 'Die Sandbox hat eine Aufnahme gehört.' });
  });

  test.each(['auto', 'AUTO', ''])('the language %j is the detected one', async (language) => {
    expect(await create({ language })).toMatchObject({ text });
  });
});

describe('the model', () => {
  const sandbox = serveSandbox();

  test.each([undefined, '', 'whisper-1', 'gpt-transcribe', 'gpt-4o-transcribe-diarize', 'sandbox-transcribe'])(
    '%s is the default; a header names it',
    async (model) => {
      const named = model === undefined ? [] : fields(['model', model]);
      const { status, headers } = await sendForm(sandbox.service, [file(), ...named]);
      expect(status).toBe(200);
      expect(headers.get('x-parlance-model')).toBe('sandbox-transcribe');
    },
  );

  test('is not found by a different id', async () => {
    const asked = sdkOf(sandbox.service).audio.transcriptions.create({ file: speech(), model: 'whisper-2' });
    await expect(asked).rejects.toBeInstanceOf(NotFoundError);
    await expect(asked).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  test('of another kind is refused', async () => {
    const asked = sdkOf(sandbox.service).audio.transcriptions.create({ file: speech(), model: 'sandbox-speech' });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'model' });
  });
});

test('a stream that waits for its engine has comments', async () => {
  await using service = await startTestService({ ...scriptedTranscription, heartbeatMs: 5 });
  const controller = new AbortController();
  const body = new FormData();
  body.set('file', speech());
  body.set('prompt', 'hang');
  body.set('stream', 'true');
  const { signal } = controller;
  const response = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', body, signal });
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('\n\n: keep-alive\n\n')) break;
  }
  controller.abort();
  expect(text).toMatch(/^data: \{"type":"transcript\.text\.delta"/);
});

describe('with engines that do less', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(scriptedTranscription);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const create = (more: object) =>
    sdkOf(service).audio.transcriptions.create({ file: speech(), model: 'full', ...more });
  const lastCall = () => calls(service).at(-1);

  test('the engine gets the hints that its model supports', async () => {
    await create({ prompt: 'Names: Ada.', temperature: 0.5, language: 'German' });
    expect(lastCall()).toEqual({ model: 'full', prompt: 'Names: Ada.', temperature: 0.5, language: 'de' });
    await create({ temperature: 0 });
    expect(lastCall()).toEqual({ model: 'full', temperature: 0 });
  });

  test.each([
    ['yue', 'yue'],
    ['Cantonese', 'yue'],
    ['haw', 'haw'],
  ])('the language %s is passed on, although ISO 639-1 has no code for it', async (language, code) => {
    await create({ model: 'full', language });
    expect(lastCall()).toMatchObject({ language: code });
  });

  test('other hints are dropped and named', async () => {
    const form = fields(['model', 'plain'], ['prompt', 'Names: Ada.'], ['temperature', '0.5'], ['language', 'de']);
    const more = fields(
      ['keywords[]', 'Ada'],
      ['languages[]', 'de'],
      ['hotwords', 'Ada'],
      ['vad_filter', 'true'],
      ['chunking_strategy[type]', 'server_vad'],
      ['without_timestamps', 'true'],
      ['user', 'ada'],
    );
    const { status, headers } = await sendForm(service, [...form, ...more, file()]);
    expect(status).toBe(200);
    expect(headers.get('x-parlance-ignored')).toBe(
      'prompt, keywords, temperature, languages, chunking_strategy, vad_filter, without_timestamps',
    );
    expect(lastCall()).toEqual({ model: 'plain', language: 'de' });
  });

  const keywordsOf = async (model: string, ...more: readonly Pair[]) => {
    const { status, headers } = await sendForm(service, [...fields(['model', model], ...more), file()]);
    expect(status).toBe(200);
    return { ...lastCall(), ignored: headers.get('x-parlance-ignored') };
  };

  test('keywords and hotwords mean the same', async () => {
    const words = [['keywords[]', 'Ada Lovelace'], ['keywords[]', 'Grace\nHopper'], ['hotwords', 'Parlance, Whisper,']] as const; // prettier-ignore
    const keywords = ['Ada Lovelace', 'Grace Hopper', 'Parlance', 'Whisper'];
    expect(await keywordsOf('keywords', ...words)).toEqual({ model: 'keywords', keywords, ignored: null });
    expect(await keywordsOf('prompts', ['prompt', 'A talk.'], ...words)).toEqual({
      ...{ model: 'prompts', ignored: null },
      prompt: `A talk. ${keywords.join(', ')}`,
    });
  });

  test('keywords beyond 2,000 characters are dropped, and named', async () => {
    const many = Array.from({ length: 40 }, (_, i) => ['keywords[]', String(i).padEnd(64, 'x')] as const);
    const { keywords, ignored } = await keywordsOf('keywords', ...many);
    expect({ count: keywords?.length, ignored }).toEqual({ count: 31, ignored: 'keywords' });
  });

  test.each([
    ['201 keywords', Array.from({ length: 201 }, () => ['keywords', 'x'] as const), 'keywords'],
    ['a keyword of 65 characters', [['keywords[]', 'x'.repeat(65)] as const], 'keywords'],
    ['hotwords without commas', [['hotwords', 'x'.repeat(8_000)] as const], 'hotwords'],
  ])('%s are refused', async (_what, words, param) => {
    const answer = await sendForm(service, [...fields(['model', 'keywords'], ...words), file()]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });

  test('a stream of diarized_json has its segments at the end, as the SDK reads them', async () => {
    const model = 'speakers';
    const call = { file: speech(), model, response_format: 'diarized_json', stream: true } as const;
    const events: TranscriptionStreamEvent[] = [];
    for await (const event of await sdkOf(service).audio.transcriptions.create(call)) events.push(event);
    events.forEach(expectStreamEvent);
    expect(events.map(({ type }) => type)).toEqual([
      'transcript.text.delta',
      'transcript.text.segment',
      'transcript.text.segment',
      'transcript.text.done',
    ]);
    expect(events[1]).toEqual({ type: 'transcript.text.segment', id: 'seg_0', speaker: 'A', start: 0, end: 0.9, text: 'Guten Morgen,' }); // prettier-ignore
  });

  test('diarized_json has the speakers if the model reports them', async () => {
    const form = fields(['response_format', 'diarized_json'], ['chunking_strategy', 'auto']);
    const { body } = await sendForm(service, [...form, ...fields(['model', 'speakers']), file()]);
    expectDiarized(body as TranscriptionDiarized);
    expect(body).toEqual({
      ...{ task: 'transcribe', duration: 2.099, text: 'Guten Morgen, Welt.' },
      segments: [
        { type: 'transcript.text.segment', id: 'seg_0', speaker: 'A', start: 0, end: 0.9, text: 'Guten Morgen,' },
        { type: 'transcript.text.segment', id: 'seg_1', speaker: 'B', start: 0.9, end: 2, text: 'Welt.' },
      ],
      usage: { type: 'duration', seconds: 3 },
    });
    expect(lastCall()).toEqual({ model: 'speakers', diarize: true });
    const refused = await sendForm(service, [...form, ...fields(['model', 'full']), file()]);
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({ param: 'response_format', code: 'unsupported_parameter' });
  });

  test('known speakers are passed to a model that distinguishes speakers', async () => {
    const reference = `data:audio/wav;base64,${'A'.repeat(900_000)}`;
    const known = fields(['known_speaker_names[]', 'Ada'], ['known_speaker_references[]', reference]);
    const form = [...fields(['response_format', 'diarized_json']), ...known, file()];
    const { status } = await sendForm(service, [...fields(['model', 'gpt-4o-transcribe-diarize']), ...form]);
    expect(status).toBe(200);
    const knownSpeakers = [{ name: 'Ada', bytes: reference.length }];
    expect(lastCall()).toEqual({ model: 'speakers', diarize: true, knownSpeakers });
    const refused = await sendForm(service, [...fields(['model', 'full']), ...form]);
    expect(errorOf(refused)).toMatchObject({ param: 'response_format', code: 'unsupported_parameter' });
  });

  test('known speakers of /api/v1 are passed as data URLs, too', async () => {
    const known = [
      ...fields(['model', 'speakers'], ['known_speaker_names', 'Ada']),
      { name: 'known_speaker_references', value: Buffer.alloc(1_000_000, 1), filename: 'ada.wav', type: 'audio/wav' },
    ];
    const { status } = await sendForm(service, [...known, file()], {}, '/api/v1/transcribe');
    expect(status).toBe(200);
    const bytes = 'data:audio/wav;base64,'.length + 4 * Math.ceil(1_000_000 / 3);
    expect(lastCall()).toEqual({ model: 'speakers', diarize: true, knownSpeakers: [{ name: 'Ada', bytes }] });
  });

  test('references of speakers count as memory until the end of their request', async () => {
    const bodyBudget = { reserve: 262_144, shared: 1_048_576 };
    await using small = await startTestService({ ...scriptedTranscription, bodyBudget });
    const speakers = (count: number) => [
      ...fields(['model', 'speakers'], ['response_format', 'diarized_json']),
      ...Array.from({ length: count }, (_, i) => [
        ...fields(['known_speaker_names[]', `${i}`], ['known_speaker_references[]', `data:,${'A'.repeat(900_000)}`]),
      ]).flat(),
    ];
    expect((await sendForm(small, [...speakers(2), file()])).status).toBe(503);
    for (let i = 0; i < 2; i += 1) expect((await sendForm(small, [...speakers(1), file()])).status).toBe(200);
  });

  test('five references of speakers are too many, however small', async () => {
    const five = Array.from({ length: 5 }, () => ['known_speaker_references', 'data:,x'] as const);
    const answer = await sendForm(service, [...fields(...five), file()]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ param: 'known_speaker_references' });
  });

  describe('languages', () => {
    const callWith = async (model: string, ...named: readonly string[]) => {
      const hints = named.map((code) => ['languages[]', code] as const);
      const { status, headers } = await sendForm(service, [...fields(['model', model], ...hints), file()]);
      expect(status).toBe(200);
      return { ...lastCall(), ignored: headers.get('x-parlance-ignored') };
    };

    test.each([
      ['a single one is the language', 'full', ['de'], { language: 'de', ignored: null }],
      ['a region has no effect', 'full', ['en-US', 'en'], { language: 'en', ignored: null }],
      ['several are ignored by a model without a choice', 'full', ['de', 'en'], { ignored: 'languages' }],
      ['several limit a model with a choice', 'languages', ['de', 'en'], { languages: ['de', 'en'], ignored: null }],
      ['an unknown one is ignored', 'languages', ['xx', 'de'], { languages: ['de'], ignored: 'languages' }],
      ['none that is known', 'full', ['xx'], { ignored: 'languages' }],
      ['one that the model does not know', 'English', ['de'], { ignored: null }],
    ])('%s', async (_what, model, named, expected) => {
      expect(await callWith(model, ...named)).toEqual({ model, ...expected });
    });
  });

  test('a temperature of 0 is the default of every model', async () => {
    const { headers } = await sendForm(service, [file(), ...fields(['model', 'plain'], ['temperature', '0'])]);
    expect(headers.has('x-parlance-ignored')).toBe(false);
    expect(lastCall()).toEqual({ model: 'plain' });
  });

  test('verbose_json without timestamps leaves out the segments', async () => {
    const body = await create({
      ...{ model: 'plain', response_format: 'verbose_json' },
      timestamp_granularities: ['segment'],
    });
    expect(body).toEqual({
      task: 'transcribe',
      language: 'german',
      languages: [{ code: 'de' }],
      duration: 2.099,
      text: 'Guten Morgen, Welt.',
      usage: { type: 'duration', seconds: 3 },
    });
  });

  test('a model without segments streams a single delta', async () => {
    const stream = await create({ model: 'plain', stream: true });
    expect(await eventsOf(stream)).toEqual([
      { type: 'transcript.text.delta', delta: 'Guten Morgen, Welt.' },
      { type: 'transcript.text.done', text: 'Guten Morgen, Welt.', languages: [{ code: 'de' }] },
    ]);
  });

  test('the last event has the text of the deltas, even if the engine has corrected it', async () => {
    const stream = await create({ prompt: 'correct', stream: true });
    const events = await eventsOf(stream);
    const deltas = events.map(({ delta = '' }) => delta).join('');
    expect(deltas).toBe('Guten Morgen, Welt.');
    expect(events.at(-1)?.text).toBe(deltas);
  });

  test('a failure within the stream throws, and is not retried', async () => {
    const before = calls(service).length;
    const stream = await sdkOf(service, { maxRetries: 2 }).audio.transcriptions.create({
      ...{ file: speech(), model: 'full', prompt: 'fail', stream: true },
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of stream) seen.push(event);
    })();
    await expect(reading).rejects.toBeInstanceOf(APIError);
    await expect(reading).rejects.toMatchObject({ code: 'provider_error', type: 'server_error' });
    expect(seen).toEqual([{ type: 'transcript.text.delta', delta: 'Guten Morgen,' }]);
    expect(calls(service).length).toBe(before + 1);
  });

  test('a failure without a stream has its status', async () => {
    await expect(create({ prompt: 'fail' })).rejects.toMatchObject({ status: 502, code: 'provider_error' });
  });

  test('breaking out of the stream ends the work', async () => {
    const ends = () => service.log.filter(({ msg }) => msg === 'ended').length;
    const before = ends();
    const stream = await sdkOf(service).audio.transcriptions.create({
      ...{ file: speech(), model: 'full', prompt: 'hang', stream: true },
    });
    for await (const event of stream) {
      expect(event).toEqual({ type: 'transcript.text.delta', delta: 'Guten Morgen,' });
      break;
    }
    await expect.poll(ends).toBe(before + 1);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  describe('refused before the work', () => {
    const verbose = { response_format: 'verbose_json' };
    const speakers = {
      ...{ response_format: 'diarized_json', known_speaker_names: ['Ada'] },
      known_speaker_references: ['data:audio/wav;base64,AAAA'],
    };
    test.each([
      ['an unknown format', { response_format: 'pdf' }, 'response_format', 'invalid_request'],
      ['srt without segments', { model: 'plain', response_format: 'srt' }, 'response_format', 'unsupported_parameter'],
      ['vtt without segments', { model: 'plain', response_format: 'vtt' }, 'response_format', 'unsupported_parameter'],
      [
        'words without them',
        { ...verbose, model: 'no words', timestamp_granularities: ['word'] },
        'timestamp_granularities',
        'unsupported_parameter',
      ],
      [
        'lines without words',
        { model: 'no words', response_format: 'srt', max_line_width: 40 },
        'max_line_width',
        'unsupported_parameter',
      ],
      ['lines of json', { max_line_width: 40 }, 'max_line_width', 'invalid_request'],
      ['cues of json', { max_line_count: 2 }, 'max_line_count', 'invalid_request'],
      ['a line of 9 characters', { response_format: 'srt', max_line_width: 9 }, 'max_line_width', 'invalid_request'],
      [
        'a line of 201 characters',
        { response_format: 'vtt', max_line_width: 201 },
        'max_line_width',
        'invalid_request',
      ],
      ['a cue of no line', { response_format: 'vtt', max_line_count: 0 }, 'max_line_count', 'invalid_request'],
      ['a cue of 1e1 lines', { response_format: 'vtt', max_line_count: '1e1' }, 'max_line_count', 'invalid_request'],
      ['granularities with json', { timestamp_granularities: ['word'] }, 'timestamp_granularities', 'invalid_request'],
      [
        'an unknown granularity',
        { ...verbose, timestamp_granularities: ['letter'] },
        'timestamp_granularities',
        'invalid_request',
      ],
      ['a stream of subtitles', { response_format: 'srt', stream: true }, 'stream', 'invalid_request'],
      ['log probabilities', { include: ['logprobs'] }, 'include', 'unsupported_parameter'],
      ['known speakers', { ...speakers, response_format: 'json' }, 'known_speaker_names', 'invalid_request'],
      [
        'speakers without a recording',
        { ...speakers, known_speaker_names: ['Ada', 'Bob'] },
        'known_speaker_references',
        'invalid_request',
      ],
      [
        'the address of a speaker',
        { ...speakers, known_speaker_references: ['https://x'] },
        'known_speaker_references',
        'invalid_request',
      ],
      ['a temperature above 1', { temperature: 1.1 }, 'temperature', 'invalid_request'],
      ['a temperature below 0', { temperature: -0.1 }, 'temperature', 'invalid_request'],
      ['a language that does not exist', { language: 'xx' }, 'language', 'language_not_supported'],
    ])('%s', async (_what, more, param, code) => {
      const before = calls(service).length;
      const asked = create(more);
      await expect(asked).rejects.toBeInstanceOf(BadRequestError);
      await expect(asked).rejects.toMatchObject({ param, code, type: 'invalid_request_error' });
      await expect(asked).rejects.toThrow(param); // clients drop the field that the message names
      expect(calls(service).length).toBe(before);
    });

    test.each([
      ['diarize', 'true', 'unsupported_parameter'],
      ['temperature', 'warm', 'invalid_request'],
      ['stream', 'maybe', 'invalid_request'],
    ])('%s: %s', async (name, value, code) => {
      const { status, body } = await sendForm(service, [file(), ...fields([name, value])]);
      expect(status).toBe(400);
      expect(body).toMatchObject({ error: { param: name, code } });
    });

    test('a feature that is switched off is accepted', async () => {
      const off = fields(['diarize', 'false'], ['stream', 'False'], ['include', '']);
      expect((await sendForm(service, [file(), ...off])).status).toBe(200);
    });
  });
});
