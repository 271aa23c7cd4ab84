/** Transcripts with times: found, played, shortened, and read from a file that anybody may have written. */
import { describe, expect, test } from 'vitest';
import { named, shortened } from '../../page/reader/named.ts';
import { indexAt, matchesOf, wordsOf } from '../../page/reader/places.ts';
import { readTranscript } from '../../page/reader/read-transcript.ts';
import {
  clock,
  searchTextOf,
  timeText,
  toTimedTranscript,
  type TimedTranscript,
} from '../../page/reader/timed-transcript.ts';
import { newEstimate, progress, wait } from '../../page/reader/time-left.ts';

const timed = (start_ms: number, end_ms: number, text: string) => ({ start_ms, end_ms, text });
const transcript: TimedTranscript = {
  ...{ text: 'The the? Théo (C++) goes.', language: 'en' },
  segments: [timed(0, 1_000, 'The the?'), timed(1_000, 2_500, 'Théo (C++) goes.')],
  words: [timed(0, 400, ' The'), timed(500, 1_040, 'the'), timed(990, 1_500, 'Théo'), timed(2_000, 2_400, 'goes.')],
};

describe('a transcript', () => {
  test('of a model without times is one segment, and none for silence', () => {
    const result = { text: 'Good morning.', language: null, model: 'm', duration_ms: 900 };
    expect(toTimedTranscript(result).segments).toEqual([timed(0, 900, 'Good morning.')]);
    expect(toTimedTranscript({ ...result, text: '', segments: [] }).segments).toEqual([]);
  });

  test('has the segment of each moment', () => {
    expect([-1, 0, 999, 1_000, 9_999].map((ms) => indexAt(transcript.segments, ms))).toEqual([-1, 0, 0, 1, 1]);
    expect(indexAt([], 5)).toBe(-1);
  });

  test('has the place of each word in its segment: the same word twice, one at the border, one that is not in the text', () => {
    const placed = (index: number) =>
      wordsOf(transcript, index).map(({ from, to, startMs }) => [
        transcript.segments[index]?.text.slice(from, to),
        startMs,
      ]);
    expect(placed(0)).toEqual([['The', 0], ['the', 500]]); // prettier-ignore
    expect(placed(1)).toEqual([['Théo', 990], ['goes.', 2_000]]); // prettier-ignore
    expect(wordsOf({ ...transcript, words: [timed(0, 9, 'other')] }, 0)).toEqual([]);
    expect(wordsOf(transcript, 7)).toEqual([]);
  });

  test.each([
    ['THE', ['The', 'the']],
    ['(c++)', ['(C++)']],
    [' goes. ', ['goes.']],
    ['.*', []],
    ['  ', []],
    ['the  the', ['The the']],
  ])('is searched: %s', (query, found) => {
    const { segments } = transcript;
    const texts = matchesOf(segments, query).map(({ segment, from, to }) => segments[segment]?.text.slice(from, to));
    expect(texts).toEqual(found);
  });

  test('is shortened to whole segments', () => {
    expect(shortened(transcript, 100)).toEqual({ text: transcript.text });
    expect(shortened(transcript, 12)).toEqual({ text: 'The the?', untilMs: 1_000 });
    expect(shortened({ ...transcript, segments: [timed(5, 9, 'a'.repeat(30))] }, 4)).toMatchObject({ text: 'The ' });
  });

  test('of a file is read only if it is one', () => {
    const value: unknown = JSON.parse(JSON.stringify(transcript));
    expect(readTranscript(value)).toEqual(transcript);
    const invalid = [
      null,
      [],
      { ...transcript, text: 1 },
      { ...transcript, segments: { length: 1 } },
      { ...transcript, segments: [null] },
      { ...transcript, segments: [timed(-1, 0, 'a')] },
      { ...transcript, segments: [timed(5, 6, 'a'), timed(4, 6, 'a')] },
      { ...transcript, words: [timed(0.5, 1, 'a')] },
    ];
    expect(invalid.map(readTranscript)).toEqual(invalid.map(() => undefined));
    expect(readTranscript({ ...transcript, model: {}, durationMs: -1, language: 5, failure: 'x' })).toEqual({
      ...transcript,
      language: null,
    });
  });
});

describe('a transcript with speakers', () => {
  const said = (speaker: string, start_ms: number, end_ms: number, text: string) => ({
    ...timed(start_ms, end_ms, text),
    speaker,
  });
  const result = {
    ...{ text: 'Hi there. Yes. Good.', language: 'en', model: 'm' },
    segments: [said('A', 0, 500, 'Hi'), said('A', 500, 3_000, 'there.'), said('B', 1_000, 1_400, 'Yes.'), said('A', 4_000, 4_500, 'Good.')], // prettier-ignore
    words: [said('A', 0, 400, 'Hi'), said('B', 1_000, 1_400, 'Yes.'), said('A', 2_000, 3_000, 'there.'), said('A', 4_000, 4_500, 'Good.')], // prettier-ignore
    turns: [said('A', 0, 3_000, 'Hi there.'), said('B', 1_000, 1_400, 'Yes.'), said('A', 4_000, 4_500, 'Good.')],
    speakers: [
      { speaker: 'A', speech_ms: 3_500 },
      { speaker: 'B', speech_ms: 400 },
    ],
  };
  const call = toTimedTranscript(result);
  const [speakerA, speakerB] = result.speakers;
  const renamed: TimedTranscript = { ...call, speakers: [speakerA!, { ...speakerB!, name: 'Ada\n<b>' }] };

  test('has its turns as segments if the model has none, or none with speakers', () => {
    const { segments, ...withoutSegments } = result;
    const unlabeled = segments.map(({ speaker: _, ...segment }) => segment);
    expect(call.segments).toBe(segments);
    expect(toTimedTranscript(withoutSegments).segments).toBe(result.turns);
    expect(toTimedTranscript({ ...result, segments: unlabeled }).segments).toBe(result.turns);
    expect(toTimedTranscript({ ...result, text: '', segments: [], turns: [], speakers: [] }).segments).toEqual([]);
  });

  test('has each word in a segment of its speaker, also where two speak at once', () => {
    const places = [0, 1, 2, 3].map((index) => wordsOf(call, index).map(({ startMs }) => startMs));
    expect(places).toEqual([[0], [2_000], [1_000], [4_000]]);
  });

  test('is copied and saved with names, one line for each turn', () => {
    expect(named(call).text).toBe('A: Hi there.\nB: Yes.\nA: Good.');
    expect(named(renamed).text).toBe('A: Hi there.\nAda <b>: Yes.\nA: Good.');
    expect(named(renamed).segments.map(({ speaker }) => speaker)).toEqual(['A', 'A', 'Ada\n<b>', 'A']);
    expect(named(transcript)).toBe(transcript);
    expect(searchTextOf('Call', renamed)).toContain('ada');
  });

  test('is shortened to whole turns', () => {
    expect(shortened(named(renamed), 100).text).toBe(named(renamed).text);
    expect(shortened(named(renamed), 34)).toEqual({ text: 'A: Hi there.\nAda <b>: Yes.', untilMs: 1_400 });
    expect(shortened(named(renamed), 5)).toEqual({ text: 'A: Hi', untilMs: 0 });
  });

  test('of a file is read with its names, and without speakers that are invalid', () => {
    const read = (changes: object) => readTranscript(JSON.parse(JSON.stringify({ ...renamed, ...changes })));
    expect(read({})).toEqual(renamed);
    const { speakers: _, turns: __, ...plain } = renamed;
    const invalid = [
      { speakers: {} },
      { speakers: [null] },
      { speakers: [{ speaker: 5, speech_ms: 1 }] },
      { speakers: [{ speaker: 'A', speech_ms: -1 }] },
      { speakers: [{ ...speakerA, name: '' }] },
      { speakers: [{ ...speakerA, name: 'x'.repeat(61) }] },
      { turns: [timed(0, 1, 'no speaker')] },
      { turns: undefined },
    ];
    expect(invalid.map(read)).toEqual(invalid.map(() => plain));
    expect(read({ segments: [{ ...timed(0, 1, 'a'), speaker: {} }] })).toBeUndefined();
  });
});

test('times are for people', () => {
  expect([0, 61_500, 3_600_000, 14_399_999].map(clock)).toEqual(['0:00', '1:01', '1:00:00', '3:59:59']);
  expect([5_000, 60_000, 1_700_000, 3_600_000, 9_000_000].map(timeText)).toEqual([
    'less than a minute',
    '1 minute',
    '28 minutes',
    '1 hour',
    '2 hours 30 min',
  ]);
});

describe('the time that is left', () => {
  test('follows the pace since the page looks, without what was done before', () => {
    const { estimate, leftMs } = progress(newEstimate(0), 0.4, 500); // after a reload, it comes at once
    expect(leftMs).toBeUndefined();
    expect(progress(estimate, 0.5, 10_500).leftMs).toBeCloseTo(50_000);
    expect(progress(estimate, 1, 60_500).leftMs).toBe(0);
    expect(progress(estimate, 0.4, 10_500).leftMs).toBeUndefined();
  });

  test('does not count the wait for other recordings', () => {
    expect(progress(wait(newEstimate(0), 100_000), 0.5, 110_000).leftMs).toBeCloseTo(10_000);
  });
});
