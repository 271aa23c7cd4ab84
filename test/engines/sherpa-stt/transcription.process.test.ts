/** Models made by hand, run by the real library: every sound is a token, and the tests see which were recognized, and when. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Schemas } from '../../../src/contract/operations.ts';
import type { Timed } from '../../support/local-service.ts';
import { multipart, multipartType } from '../../api/support/forms.ts';
import { describeWith } from '../../support/programs.ts';
import { noise } from '../../support/noise.ts';
import { until } from '../../support/processes.ts';
import { recordings, usual } from '../../support/recordings.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { tonePcm, words, type Word } from '../../support/tone-model.ts';
import { writeVoice } from '../../support/voice-model.ts';
import { expectGuarantees, readStream } from '../../transcription/support/stream.ts';
import { said, sentenceOf } from '../sherpa-voice/support.ts';
import { recordingOf, startRecognizers, type Recognizers } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const wordsModel = { models: { words: { code: 'words' } } } as const;

const recordingOfWords = (...spoken: Word[]) => recordingOf(tonePcm({ words: spoken, rate: 16_000 }));

/** So many words, the same for the same numbers. */
const wordsFrom = (first: number, count: number): Word[] =>
  Array.from({ length: count }, (_, at) => words[(first + at * 5) % words.length]!);

async function startWithVoice(): Promise<
  Recognizers & { readonly say: (text: string, format: string) => Promise<Buffer> }
> {
  const file = await writeVoice(await temporaryDirectory(), 'spelled');
  const started = await startRecognizers({
    others: { voice: { use: 'sherpa-voice', voices: [{ id: 'spelled', file }] } },
  });
  const say = async (text: string, format: string) => {
    const answer = await started.service.post('/tts', { text, format });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  return { ...started, say };
}

describe('what a voice of letters has said', () => {
  it('is transcribed to the same text, through wav and mp3', async () => {
    const { transcribe, say } = await startWithVoice();
    for (const text of ['yes no hello', "it's 12 o'clock, is it?", 'ssshhh, aaa bb!']) {
      for (const format of ['wav', 'mp3']) {
        expect(await transcribe(await say(text, format)), format).toMatchObject({ status: 200, text });
      }
    }
  });

  it('is transcribed completely where it is longer than a piece', async () => {
    const { transcribe, say } = await startWithVoice();
    const text = Array.from({ length: 12 }, (_, k) => sentenceOf(90, k)).join(' ');
    const { text: transcript = '' } = await transcribe(await say(text, 'wav'));
    expect(said(transcript)).toBe(said(text));
  });
});

describe('words', () => {
  it('have their times, also when they are repeated', async () => {
    const { transcribe } = await startRecognizers(wordsModel);
    const spoken = ['alpha', 'bravo', 'bravo', '東京'] as const;
    const transcript = await transcribe(recordingOfWords(...spoken), { timestamps: 'word' });
    expect(transcript).toMatchObject({ status: 200, text: spoken.join(' '), language: null, duration_ms: 2_750 });
    expectTimes(transcript.words, spoken, 2_750);
    expect(transcript.segments).toEqual([
      { start_ms: transcript.words?.[0]?.start_ms, end_ms: 2_750, text: 'alpha bravo bravo 東京' },
    ]);
  });

  it.each([2, 4, 8])('have their times with a frame of %d0 ms', async (subsampling) => {
    const { transcribe } = await startRecognizers({ models: { words: { code: 'words', subsampling } } });
    const { words: transcript } = await transcribe(recordingOfWords('kilo', 'golf'), { timestamps: 'word' });
    expectTimes(transcript, ['kilo', 'golf'], 1_750, 10 * subsampling);
  });

  it('are neither lost nor doubled at the seams of a long recording, and keep their times', async () => {
    const { transcribe, service } = await startRecognizers(wordsModel);
    const spoken = Array.from({ length: 6 }, (_, k) => wordsFrom(k, 28));
    const samples = spoken.map((part) => tonePcm({ words: part, rate: 16_000, tailSeconds: 0.5 }));
    const recording = recordingOf(Int16Array.from(samples.flatMap((part) => Array.from(part))));
    const { text, words: transcript = [] } = await transcribe(recording, { timestamps: 'word' });
    expect(text).toBe(spoken.flat().join(' '));
    const offsets = transcript.map(({ start_ms }, at) => Math.abs(start_ms - 500 * (2 * Math.floor(at / 28) + at + 1)));
    expect(Math.max(...offsets)).toBeLessThanOrEqual(20);

    const body = multipart({ name: 'timestamps', value: 'segment' }, { name: 'file', value: recording, filename: 'memo.wav' }); // prettier-ignore
    const { events } = await readStream(service.url, { headers: multipartType, body });
    expectGuarantees(events);
    const done = events.flatMap((event) => (event.type === 'transcription.progress' ? [event.processed_ms] : []));
    expect(done.at(-1)).toBe(90_000); // reports that no one has read yet are one
    const segments = events.flatMap((event) => (event.type === 'segment.created' ? [event.segment.text] : []));
    expect(segments.length).toBeGreaterThanOrEqual(6);
    expect(segments.join(' ')).toBe(text);
  });

  function expectTimes(
    transcript: readonly Timed[] | undefined,
    spoken: readonly Word[],
    durationMs: number,
    frameMs = 10,
  ): void {
    expect(transcript?.map(({ text }) => text)).toEqual(spoken);
    for (const [at, { start_ms, end_ms }] of (transcript ?? []).entries()) {
      expect(Math.abs(start_ms - 500 * (at + 1))).toBeLessThanOrEqual(10 + frameMs);
      expect(end_ms).toBe(transcript?.[at + 1]?.start_ms ?? durationMs);
    }
  }
});

describeWith(['ffmpeg'], 'the recordings of the other transcription tests', ({ ffmpeg }) => {
  /** Codecs are decoded in the same way for every engine; test/transcription/recordings.process.test.ts has all of them. */
  const oneOfEachContainer = [...new Map(recordings.map((kind) => [kind.container, kind])).values()];

  it('are transcribed in every container', async () => {
    const { transcribe } = await startRecognizers({ ...wordsModel, env: { PATH: join(ffmpeg, '..') } });
    const directory = await temporaryDirectory();
    for (const [number, { name, make }] of oneOfEachContainer.entries()) {
      const own = join(directory, String(number));
      await mkdir(own);
      const path = await make(usual.words, { directory: own });
      expect(await transcribe(await readFile(path)), name).toMatchObject({ status: 200, text: usual.words.join(' ') });
    }
  });
});

describe('a recording without words', () => {
  const samplesOf = (bytes: Buffer, shift: number) => Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i) >> shift); // prettier-ignore

  const recordingsWithoutWords = {
    silence: new Int16Array(16_000),
    '45 s of silence': new Int16Array(45 * 16_000),
    'a single sample': new Int16Array(1),
    'loud noise': samplesOf(noise(64_000), 1),
    hum: Int16Array.from({ length: 48_000 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 50 * i) / 16_000)),
    'faint noise': samplesOf(noise(64_000), 8),
  };

  it('is empty', async () => {
    const { transcribe } = await startRecognizers({ models: { words: { code: 'words' }, letters: {} } });
    for (const [what, samples] of Object.entries(recordingsWithoutWords)) {
      for (const model of ['words', 'letters']) {
        const transcript = await transcribe(recordingOf(samples), { model, timestamps: 'word' });
        expect(transcript, what).toMatchObject({ status: 200, text: '', language: null, segments: [], words: [] });
      }
    }
  });
});

describe('models', () => {
  it('transcribe several recordings at once, in one program', async () => {
    const { transcribe, programs } = await startRecognizers({ ...wordsModel, options: { slots: 5 } });
    const spoken = Array.from({ length: 5 }, (_, k) => wordsFrom(k, 20));
    const transcript = await Promise.all(spoken.map((part) => transcribe(recordingOfWords(...part))));
    expect(transcript.map(({ text }) => text)).toEqual(spoken.map((part) => part.join(' ')));
    expect(programs()).toHaveLength(1);
  });

  it('are listed with what they support; each has its own program', async () => {
    const models = { words: { code: 'words' }, letters: {} } as const;
    const { transcribe, service, programs } = await startRecognizers({ models });
    const { data } = (await (await service.api('/transcribe/models')).json()) as { data: object[] };
    const supports = ['segment', 'word'];
    expect(data).toMatchObject([{ id: 'words', local: true, supports }, { id: 'letters', local: true, supports }]); // prettier-ignore
    await transcribe(recordingOfWords('alpha'), { model: 'words' });
    await transcribe(recordingOfWords('alpha'), { model: 'letters' });
    expect(programs()).toHaveLength(2);
  });

  /** The languages that the listing has for each model. */
  const languagesOf = async (service: Recognizers['service']) => {
    const { data } = (await (await service.api('/transcribe/models')).json()) as Schemas['ModelList'];
    return data.map(({ languages }) => languages);
  };

  it('transcribe the language of the settings', async () => {
    const { transcribe, service } = await startRecognizers({ models: { words: { code: 'words', language: 'en' } } });
    expect(await languagesOf(service)).toEqual([['en']]);
    expect(await transcribe(recordingOfWords('alpha'))).toMatchObject({ text: 'alpha', language: 'en' });
    expect(await transcribe(recordingOfWords('alpha'), { language: 'en' })).toMatchObject({
      text: 'alpha',
      language: 'en',
    });
    expect(await transcribe(recordingOfWords('alpha'), { language: 'de' })).toMatchObject({
      status: 422,
      code: 'language-not-supported',
      detail: 'The model words supports only "en", not "de".',
    });
  });

  it('without a language in the settings refuse that of a request', async () => {
    const { transcribe, service } = await startRecognizers(wordsModel);
    expect(await languagesOf(service)).toEqual([[]]);
    expect(await transcribe(recordingOfWords('alpha'), { language: 'de' })).toMatchObject({
      status: 422,
      detail: 'The model words does not accept a language, because its settings name none.',
    });
  });

  it('are loaded while a recording is uploaded', async () => {
    const { engine, programs } = await startRecognizers(wordsModel);
    await engine.warmUp?.();
    expect(programs()).toEqual([]);
    await engine.warmUp?.('words');
    await until('it is loaded', () => programs().length === 1);
  });
});
