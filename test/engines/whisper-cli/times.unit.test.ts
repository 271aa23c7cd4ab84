/** The times of segments and words, from the JSON and the lines of whisper-cli. The tone files are recorded outputs of 1.9.1. */
import { readFile } from 'node:fs/promises';
import fc from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { Transcript } from '../../../engines/contract/index.ts';
import { createTimeline, parse, readSegmentLine, toTranscript } from '../../../engines/whisper-cli/transcript.ts';

const fixture = (name: string) => readFile(new URL(`../../fixtures/whisper/${name}.json`, import.meta.url));

type Times = readonly [from: number, to: number];
type TestToken = readonly [text: string | Buffer, times?: Times | undefined];

interface TestSegment {
  readonly text: string;
  readonly times?: Times;
  readonly tokens?: readonly TestToken[];
}

/** The bytes that whisper-cli writes: a text may be cut within a character. */
function whisperJson(language: string, segments: readonly TestSegment[]): Buffer {
  const raw = (text: string | Buffer) => JSON.stringify(Buffer.from(text).toString('latin1'));
  const offsets = (times?: Times) => (times ? `"offsets":{"from":${times[0]},"to":${times[1]}},` : '');
  const token = ([text, times]: TestToken) => `{${offsets(times)}"text":${raw(text)}}`;
  const segment = ({ text, times, tokens }: TestSegment) =>
    `{${offsets(times)}"text":${raw(text)}${tokens ? `,"tokens":[${tokens.map(token).join()}]` : ''}}`;
  const json = `{"result":{"language":"${language}"},"transcription":[${segments.map(segment).join()}]}`;
  return Buffer.from(json, 'latin1');
}

function read(json: Buffer, durationMs = 60_000): Transcript {
  return toTranscript(parse(json), { durationMs, timestamps: ['segment', 'word'] });
}

/** A segment of a minute with these tokens. */
function wordsOf(tokens: readonly TestToken[], language = 'en'): Transcript['words'] {
  const text = Buffer.concat(tokens.map(([text]) => Buffer.from(text))).toString();
  return read(whisperJson(language, [{ text: text.replace(/\[_\w+\]/g, ''), times: [0, 60_000], tokens }])).words;
}

const at = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text });

describe('a recorded output', () => {
  test('with -oj has segments', async () => {
    const transcript = toTranscript(parse(await fixture('tones-oj')), { durationMs: 3750, timestamps: ['segment'] });
    const text = 'alpha bravo über 東京 back\\slash "foxtrot"';
    expect(transcript).toEqual({ text, language: 'de', durationMs: 3750, segments: [at(0, 3500, text)] });
  });

  test('with -ojf has words too', async () => {
    expect(read(await fixture('tones-ojf'), 31_750)).toEqual({
      text: 'alpha bravo über kilo golf',
      language: 'en',
      durationMs: 31_750,
      segments: [at(0, 2000, 'alpha bravo über'), at(30_000, 31_500, 'kilo golf')],
      words: [
        ...[at(500, 660, 'alpha'), at(660, 1320, 'bravo'), at(1320, 1950, 'über')],
        ...[at(30_500, 30_750, 'kilo'), at(30_750, 31_450, 'golf')],
      ],
    });
  });

  test('has no times that were not asked for', async () => {
    const json = parse(await fixture('tones-ojf'));
    expect(toTranscript(json, { durationMs: 31_750, timestamps: [] })).not.toHaveProperty('segments');
    const words = toTranscript(json, { durationMs: 31_750, timestamps: ['word'] });
    expect(Object.keys(words)).toEqual(['text', 'language', 'durationMs', 'words']);
  });

  test('without the times that were asked for is invalid', async () => {
    const json = parse(await fixture('tones-oj'));
    expect(() => toTranscript(json, { durationMs: 1, timestamps: ['word'] })).toThrow('a segment has no tokens');
    const untimed = parse(whisperJson('en', [{ text: ' alpha' }]));
    expect(() => toTranscript(untimed, { durationMs: 1, timestamps: ['segment'] })).toThrow('a segment has no offsets');
  });

  test.each([
    ['a time that is no number', '{"text":"a","offsets":{"from":"0","to":1}}'],
    ['tokens that are no list', '{"text":"a","tokens":{}}'],
    ['a token without a text', '{"text":"a","tokens":[{"id":7}]}'],
  ])('with %s is invalid', (_what, segment) => {
    const json = Buffer.from(`{"result":{},"transcription":[${segment}]}`);
    expect(() => parse(json)).toThrow('the JSON has an unexpected structure');
  });
});

describe('segments', () => {
  test('for silence are dropped, alone and within others', () => {
    const tokens = (...texts: readonly string[]): TestToken[] => texts.map((text) => [text, [0, 0]]);
    const json = whisperJson('en', [
      { text: ' [BLANK_AUDIO]', times: [0, 1000], tokens: tokens('[_BEG_]', ' [', 'BLANK', '_', 'AUDIO', ']') },
      {
        text: ' alpha [ Silence ] bravo',
        times: [1000, 2000],
        tokens: tokens(' alpha', ' [', ' Sil', 'ence', ' ]', ' bravo'),
      },
    ]);
    expect(read(json)).toMatchObject({
      text: 'alpha bravo',
      segments: [at(1000, 2000, 'alpha bravo')],
      words: [{ text: 'alpha' }, { text: 'bravo' }],
    });
    expect(read(whisperJson('en', [{ text: ' [BLANK_AUDIO]', times: [0, 9], tokens: [] }]))).toEqual({
      ...{ text: '', language: null, durationMs: 60_000 },
      ...{ segments: [], words: [] },
    });
  });

  test('end within the recording and do not overlap', () => {
    const json = whisperJson('en', [
      { text: ' alpha', times: [-10, 1500], tokens: [] },
      { text: ' bravo', times: [1400, 1300], tokens: [] },
      { text: ' charlie', times: [1500, 30_000], tokens: [] },
      { text: ' delta', times: [31_000, 60_000], tokens: [] },
    ]);
    expect(read(json, 1750).segments).toEqual([
      ...[at(0, 1400, 'alpha'), at(1400, 1400, 'bravo')],
      ...[at(1500, 1750, 'charlie'), at(1750, 1750, 'delta')],
    ]);
  });

  test('with one wrong time do not move the others', () => {
    const json = whisperJson('en', [
      { text: ' alpha', times: [0, 1000], tokens: [[' alpha', [0, 900]]] },
      { text: ' bravo', times: [9000, 9500], tokens: [[' bravo', [9000, 9500]]] },
      { text: ' charlie', times: [2000, 30_000], tokens: [[' charlie', [2000, 2900]]] },
      { text: ' delta', times: [3000, 4000], tokens: [[' delta', [3000, 3900]]] },
    ]);
    const { segments, words } = read(json, 10_000);
    expect(segments).toEqual([
      ...[at(0, 1000, 'alpha'), at(1000, 2000, 'bravo')],
      ...[at(2000, 3000, 'charlie'), at(3000, 4000, 'delta')],
    ]);
    expect(words).toEqual([
      at(0, 900, 'alpha'),
      at(1000, 2000, 'bravo'),
      at(2000, 2900, 'charlie'),
      at(3000, 3900, 'delta'),
    ]);
  });

  test('spell the text, with or without spaces', () => {
    const json = whisperJson('ja', [
      { text: '東京', times: [0, 1000], tokens: [] },
      { text: 'です', times: [1000, 2000], tokens: [] },
    ]);
    const { text, segments } = read(json);
    expect(text).toBe('東京です');
    expect(segments?.map((segment) => segment.text)).toEqual(['東京', 'です']);
  });
});

describe('words', () => {
  test('begin with a space, and end with their last token', () => {
    const tokens: TestToken[] = [
      ...([
        ['[_BEG_]', [0, 0]],
        [' Hel', [100, 200]],
        ['lo', [200, 300]],
        [',', [300, 310]],
      ] as const),
      ...([
        [' world', [400, 500]],
        ['.', [500, 510]],
        ['[_TT_50]', [600, 600]],
      ] as const),
    ];
    expect(wordsOf(tokens)).toEqual([at(100, 310, 'Hello,'), at(400, 510, 'world.')]);
  });

  test('begin with the first token also without a space', () => {
    expect(
      wordsOf([
        ['Hel', [0, 1]],
        ['lo', [1, 2]],
      ]),
    ).toEqual([at(0, 2, 'Hello')]);
  });

  test('are the tokens in languages without spaces', () => {
    const tokens: TestToken[] = [
      ['東京', [0, 10]],
      ['です', [10, 20]],
      [' はい', [20, 30]],
    ];
    for (const language of ['ja', 'yue', 'th']) {
      expect(wordsOf(tokens, language)).toEqual([at(0, 10, '東京'), at(10, 20, 'です'), at(20, 30, 'はい')]);
    }
    expect(wordsOf(tokens, 'ko')).toEqual([at(0, 20, '東京です'), at(20, 30, 'はい')]);
  });

  test.each([
    ['ü', 1],
    ['東', 1],
    ['東', 2],
    ['😀', 1],
    ['😀', 2],
    ['😀', 3],
  ])('contain the characters that are cut between tokens: %s after byte %d', (character, cut) => {
    const bytes = Buffer.from(character);
    const tokens: TestToken[] = [
      [bytes.subarray(0, cut), [0, 10]],
      [bytes.subarray(cut), [10, 20]],
      ['京', [20, 30]],
    ];
    expect(wordsOf(tokens, 'ja')).toEqual([at(0, 20, character), at(20, 30, '京')]);
  });

  test('contain the characters that are cut between tokens, in languages with spaces', () => {
    const umlaut: TestToken[] = [
      [Buffer.from(' gr\xc3', 'latin1'), [0, 10]],
      [Buffer.from([0xbc]), [10, 20]],
      ['n', [20, 30]],
    ];
    expect(wordsOf(umlaut, 'de')).toEqual([at(0, 30, 'grün')]);
  });

  test('show what is missing of a character, without the special token that whisper-cli joins to it', () => {
    const cut: TestToken[] = [
      [' alpha', [0, 10]],
      [Buffer.from(' \xe6\x9d[_TT_50]', 'latin1'), [10, 20]],
    ];
    expect(wordsOf(cut)).toEqual([at(0, 10, 'alpha'), at(10, 20, '\ufffd')]);
  });

  test('without a time take what surrounds them', () => {
    const tokens: TestToken[] = [[' alpha'], [' bravo', [100, 200]], [' charlie'], [' delta', [400, 500]], [' echo']];
    expect(wordsOf(tokens)).toEqual([
      ...[at(0, 100, 'alpha'), at(100, 200, 'bravo'), at(200, 400, 'charlie')],
      ...[at(400, 500, 'delta'), at(500, 60_000, 'echo')],
    ]);
  });

  test('lie within their segment', () => {
    const tokens: TestToken[] = [
      [' alpha', [0, 900]],
      [' bravo', [800, 700]],
      [' charlie', [2500, 9000]],
    ];
    const json = whisperJson('en', [{ text: ' alpha bravo charlie', times: [500, 2000], tokens }]);
    expect(read(json).words).toEqual([at(500, 900, 'alpha'), at(800, 800, 'bravo'), at(800, 2000, 'charlie')]);
  });

  test('with one late time do not move the others', () => {
    expect(
      wordsOf([
        [' alpha', [0, 500]],
        [' bravo', [50_000, 51_000]],
        [' charlie', [900, 1200]],
        [' delta', [1300, 1500]],
      ]),
    ).toEqual([...[at(0, 500, 'alpha'), at(500, 900, 'bravo'), at(900, 1200, 'charlie'), at(1300, 1500, 'delta')]]);
  });

  test('lie in order within their segments, and spell the text, whatever the tokens are', () => {
    const time = fc.integer({ min: -1000, max: 8000 });
    const times = fc.option(fc.tuple(time, time), { nil: undefined });
    const piece = fc.constantFrom(
      ' alpha',
      'a',
      ' ',
      '.',
      ' 東',
      '京',
      '[',
      '_',
      ' [BLANK',
      '_AUDIO]',
      '[_TT_7]',
      ' é',
      '😀',
    );
    const segment = fc.record({ times: fc.tuple(time, time), tokens: fc.array(fc.tuple(piece, times)) });
    const language = fc.constantFrom('en', 'ja', 'yue', 'de');
    const withText = ({ times, tokens }: { times: Times; tokens: TestToken[] }): TestSegment => ({
      ...{ times, tokens },
      text: tokens
        .map(([text]) => String(text))
        .join('')
        .replaceAll('[_TT_7]', ''),
    });
    const letters = (parts: Transcript['words']) =>
      (parts ?? [])
        .map(({ text }) => text)
        .join('')
        .replaceAll(' ', '');
    fc.assert(
      fc.property(language, fc.array(segment), fc.integer({ min: 0, max: 6000 }), (language, segments, durationMs) => {
        const {
          text,
          segments: timed = [],
          words = [],
        } = read(whisperJson(language, segments.map(withText)), durationMs);
        expect(letters(words)).toBe(letters(timed));
        expect(letters(timed)).toBe(text.replaceAll(' ', ''));
        for (const list of [timed, words]) {
          for (const [index, { startMs, endMs }] of list.entries()) {
            expect(startMs).toBeGreaterThanOrEqual(list[index - 1]?.startMs ?? 0);
            expect(endMs).toBeGreaterThanOrEqual(startMs);
            expect(endMs).toBeLessThanOrEqual(durationMs);
          }
        }
        // Words follow their segments: each lies within the next one that it fits into.
        let current = 0;
        for (const word of words) {
          while (current < timed.length && word.endMs > timed[current]!.endMs) current += 1;
          expect(word.startMs).toBeGreaterThanOrEqual(timed[current]!.startMs);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a line of whisper-cli', () => {
  test('is a segment', () => {
    const line = '[00:00:01.040 --> 01:02:03.500]   alpha bravo';
    expect(readSegmentLine(line)).toEqual({ from: 1040, to: 3_723_500, text: ' alpha bravo' });
    const locate = createTimeline(5000);
    expect(locate(readSegmentLine(line)!)).toEqual(at(1040, 5000, 'alpha bravo'));
    expect(locate({ from: 9000, to: 9500, text: 'late' })).toEqual(at(5000, 5000, 'late'));
    expect(readSegmentLine('[100:00:00.000 --> 100:00:00.010]  ')).toEqual({ from: 36e7, to: 36e7 + 10, text: '' });
  });

  test.each(['', "read_audio_data: reading audio data from 'in.wav' ...", '[BLANK_AUDIO]', '[00:00 --> 00:01]  a'])(
    'is not a segment: %j',
    (line) => expect(readSegmentLine(line)).toBeUndefined(),
  );
});
