/** SubRip and WebVTT as written, and as an independent parser reads them. */
import { describe, expect, test } from 'vitest';
import fc from '../support/fast-check.ts';
import { toLines, toSrt, toVtt } from '../../lib/subtitles.ts';
import { readSubtitles } from '../support/subtitles.ts';

const segment = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text });
const greeting = [segment(0, 1840, 'Good morning.'), segment(1840, 3_725_007, 'It is late.')];

test('SubRip numbers its cues from 1 and has a comma in its times', () => {
  expect(toSrt(greeting)).toBe(
    '1\n00:00:00,000 --> 00:00:01,840\nGood morning.\n\n' + '2\n00:00:01,840 --> 01:02:05,007\nIt is late.\n\n',
  );
});

test('WebVTT has a header and a point in its times', () => {
  expect(toVtt(greeting)).toBe(
    'WEBVTT\n\n' +
      '00:00:00.000 --> 00:00:01.840\nGood morning.\n\n' +
      '00:00:01.840 --> 01:02:05.007\nIt is late.\n\n',
  );
});

test('silence has no cues', () => {
  expect(toSrt([])).toBe('');
  expect(toVtt([])).toBe('WEBVTT\n\n');
});

test.each([
  [0, '00:00:00.000'],
  [999, '00:00:00.999'],
  [1000, '00:00:01.000'],
  [1001, '00:00:01.001'],
  [59_999, '00:00:59.999'],
  [3_599_999, '00:59:59.999'],
  [35_999_999, '09:59:59.999'],
  [360_000_000, '100:00:00.000'],
])('%d ms is %s', (ms, time) => {
  expect(toVtt([segment(ms, ms + 1, 'x')])).toContain(`\n${time} --> `);
});

test('every millisecond of a minute is exact', () => {
  for (let ms = 0; ms < 60_000; ms++) {
    const [, seconds, rest] = /00:00:(\d\d),(\d\d\d) /.exec(toSrt([segment(ms, ms + 1, 'x')])) ?? [];
    if (Number(seconds) * 1000 + Number(rest) !== ms) expect.fail(`${ms} ms are ${seconds},${rest}`);
  }
});

describe('every cue ends after it starts, and no later than the next one starts:', () => {
  const s = (...times: readonly number[]) => times.map((time) => time * 1000);
  test.each<[string, readonly (readonly number[])[], number | undefined, readonly (readonly number[])[]]>([
    ['valid times stay', [s(0, 0.9), s(1, 1.01), s(1.02, 3)], 3000, [s(0, 0.9), s(1, 1.01), s(1.02, 3)]],
    ['an end at the start', [s(0, 1), s(1, 1), s(2.5, 2.5)], 3000, [s(0, 1), s(1, 2), s(2.5, 3)]],
    ['an end before the start', [s(0, 1), s(1, 0.2), s(1.5, 2)], undefined, [s(0, 1), s(1, 1.5), s(1.5, 2)]],
    ['an end after the next start', [s(0, 9), s(2, 4)], undefined, [s(0, 2), s(2, 4)]],
    ['the same start', [s(1, 1), s(1, 1), s(1, 3), s(4, 5)], 5000, [s(1, 2), s(2, 3), s(3, 4)].concat([s(4, 5)])],
    ['the same start, with little room', [s(1, 1), s(1, 1), s(1.1, 2)], 5000, [s(1, 1.05), s(1.05, 1.1), s(1.1, 2)]],
    ['starts that go back', [s(1, 2), s(0.5, 1.5), s(3, 4)], undefined, [s(1, 2), s(2, 3), s(3, 4)]],
    ['a start at the end of the recording', [s(0, 3), s(3, 3)], 3000, [s(0, 2), s(2, 3)]],
    ['a recording without a length', [s(0, 0), s(0, 0)], 0, [s(0, 0.001), s(0.001, 0.002)]],
  ])('%s', (_what, times, durationMs, expected) => {
    const segments = times.map(([start = 0, end = 0]) => segment(start, end, 'x'));
    for (const file of [toSrt(segments, durationMs), toVtt(segments, durationMs)]) {
      expect(readSubtitles(file)).toEqual(expected.map(([from, to]) => ({ from, to, text: 'x' })));
    }
  });

  test('any times', () => {
    const time = fc.integer({ min: 0, max: 20 });
    const list = fc.array(fc.tuple(time, time), { maxLength: 12 });
    const property = fc.property(list, fc.option(time, { nil: undefined }), (times, durationMs) => {
      const cues = readSubtitles(
        toSrt(
          times.map(([start, end]) => segment(start, end, 'x')),
          durationMs,
        ),
      );
      expect(cues).toHaveLength(times.length);
      for (const [index, { from, to }] of cues.entries()) {
        expect(to).toBeGreaterThan(from);
        expect(to).toBeLessThanOrEqual(cues[index + 1]?.from ?? Infinity);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});

describe('a cue', () => {
  const hostile = [
    ['a blank line', 'one\n\ntwo', 'one two'],
    ['line breaks of all kinds', 'a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh', 'a b c d e f g h'],
    ['an arrow', 'a --> b', 'a -> b'],
    ['a long arrow', 'a ----->> b', 'a ->> b'],
    [
      'the times of another cue',
      'x\n\n2\n00:00:01,000 --> 00:00:02,000\nforged',
      'x 2 00:00:01,000 -> 00:00:02,000 forged',
    ],
    ['the header of a file', '\nWEBVTT\n\nNOTE', 'WEBVTT NOTE'],
    ['an arrow across a break', 'a --\n> b', 'a -- > b'],
    ['a NUL', 'a\0\nb\0', 'a b'],
    ['spaces around it', '  two  spaces ', 'two  spaces'],
  ] as const;

  test.each(hostile)('with %s stays one cue', (_what, text, line) => {
    const segments = [segment(0, 1000, text), segment(1000, 2000, 'after')];
    expect(toSrt(segments)).toBe(
      `1\n00:00:00,000 --> 00:00:01,000\n${line}\n\n2\n00:00:01,000 --> 00:00:02,000\nafter\n\n`,
    );
    for (const file of [toSrt(segments), toVtt(segments)]) {
      expect(readSubtitles(file)).toEqual([
        { from: 0, to: 1000, text: line },
        { from: 1000, to: 2000, text: 'after' },
      ]);
    }
  });

  test.each(['', ' ', '\n\n', '\0'])('without text (%j) is left out', (text) => {
    const segments = [segment(0, 500, text), segment(500, 1000, 'said')];
    expect(toSrt(segments)).toBe('1\n00:00:00,500 --> 00:00:01,000\nsaid\n\n');
    expect(toVtt(segments)).toBe('WEBVTT\n\n00:00:00.500 --> 00:00:01.000\nsaid\n\n');
  });

  test('has the name of a speaker, which ends no tag and no cue', () => {
    const segments = [{ ...segment(0, 1_000, 'Yes.'), speaker: 'A & <b>\n\nB --> C' }];
    expect(toVtt(segments)).toContain('\n<v A &amp; &lt;b&gt; B -&gt; C>Yes.\n');
    expect(toSrt(segments)).toContain('\nA & <b> B -> C: Yes.\n');
    expect(toLines([{ speaker: 'A\nB', text: 'Yes.' }])).toBe('A B: Yes.\n');
  });

  test('shows markup as text in WebVTT; SubRip has no escape', () => {
    const segments = [segment(0, 1, 'AT&T <b>says</b> 1 > 0')];
    expect(toVtt(segments)).toContain('\nAT&amp;T &lt;b>says&lt;/b> 1 > 0\n');
    expect(toSrt(segments)).toContain('\nAT&T <b>says</b> 1 > 0\n');
  });
});
