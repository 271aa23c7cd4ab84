/** The JSON forms of a transcript. */
import { expect, test } from 'vitest';
import { toDiarizedJson, toJson, toVerboseJson } from '../../src/openai/transcript-json.ts';

const transcript = {
  text: 'Guten Morgen.',
  language: 'de',
  durationMs: 2250.4,
  segments: [{ startMs: 0, endMs: 1840, text: 'Guten Morgen.' }],
  words: [
    { startMs: 0, endMs: 800, text: 'Guten' },
    { startMs: 820, endMs: 1840, text: 'Morgen.' },
  ],
};

test('json has the text and the seconds, rounded up', () => {
  expect(toJson(transcript)).toEqual({
    text: 'Guten Morgen.',
    languages: [{ code: 'de' }],
    usage: { type: 'duration', seconds: 3 },
  });
});

test("verbose_json has OpenAI's keys, with seconds and the English name of the language", () => {
  expect(toVerboseJson(transcript)).toEqual({
    task: 'transcribe',
    language: 'german',
    languages: [{ code: 'de' }],
    duration: 2.25,
    text: 'Guten Morgen.',
    segments: [
      {
        id: 0,
        seek: 0,
        start: 0,
        end: 1.84,
        text: 'Guten Morgen.',
        tokens: [],
        temperature: 0,
        avg_logprob: 0,
        compression_ratio: 0,
        no_speech_prob: 0,
      },
    ],
    words: [
      { word: 'Guten', start: 0, end: 0.8 },
      { word: 'Morgen.', start: 0.82, end: 1.84 },
    ],
    usage: { type: 'duration', seconds: 3 },
  });
});

test('unknown and unrequested fields are omitted', () => {
  expect(toVerboseJson({ text: '', language: null })).toEqual({ task: 'transcribe', text: '', languages: [] });
  expect(toJson({ text: '', language: null })).toEqual({ text: '', languages: [] });
});

test('a translation is English', () => {
  const { task, language, languages } = toVerboseJson({ ...transcript, text: 'Good morning.' }, 'translate');
  expect({ task, language, languages }).toEqual({
    task: 'translate',
    language: 'english',
    languages: [{ code: 'de' }],
  });
  expect(toVerboseJson({ text: '', language: null }, 'translate')).toEqual({
    task: 'translate',
    text: '',
    languages: [],
  });
});

test('diarized_json has the speakers', () => {
  const turns = [
    { speaker: 'A', startMs: 0, endMs: 1200, text: 'Guten' },
    { speaker: 'B', startMs: 1300, endMs: 2250, text: 'Morgen.' },
  ];
  expect(toDiarizedJson({ text: 'Guten Morgen.', language: null, durationMs: 2250, turns })).toEqual({
    task: 'transcribe',
    duration: 2.25,
    text: 'Guten Morgen.',
    segments: [
      { type: 'transcript.text.segment', id: 'seg_0', speaker: 'A', start: 0, end: 1.2, text: 'Guten' },
      { type: 'transcript.text.segment', id: 'seg_1', speaker: 'B', start: 1.3, end: 2.25, text: 'Morgen.' },
    ],
    usage: { type: 'duration', seconds: 3 },
  });
});

test.each([
  ['en', ['One.', 'Two.', '“Three”.'], 'One. Two. “Three”.'],
  ['ja', ['今日は', '良い天気'], '今日は良い天気'],
])('the segments join to the text (%s)', (language, parts, text) => {
  const segments = parts.map((part, index) => ({ startMs: index, endMs: index + 1, text: part }));
  const spoken = toVerboseJson({ text, language, segments }).segments?.map((segment) => segment.text);
  expect(spoken?.join('')).toBe(text);
});

test('segments are counted from 0', () => {
  const segments = [0, 1, 2].map((second) => ({ startMs: second * 1000, endMs: second * 1000 + 1, text: 'x' }));
  const ids = toVerboseJson({ text: 'x x x', language: null, segments }).segments?.map(({ id, start, end }) => [
    id,
    start,
    end,
  ]);
  expect(ids).toEqual([
    [0, 0, 0.001],
    [1, 1, 1.001],
    [2, 2, 2.001],
  ]);
});
