/** Words, and the speech of speakers: who said what. */
import { describe, expect, test } from 'vitest';
import type { SpeakerSpan } from '../../../engines/contract/index.ts';
import { speakersOf } from '../../../src/transcription/speakers/assign.ts';
import { labeled, letterOf } from '../../../src/transcription/speakers/label.ts';
import fc from '../../support/fast-check.ts';

const word = (startMs: number, endMs: number, text = 'x') => ({ startMs, endMs, text });
const span = (speaker: number, startMs: number, endMs: number): SpeakerSpan => ({ speaker, startMs, endMs });
const transcriptOf = (words: readonly ReturnType<typeof word>[]) => ({
  ...{ text: words.map(({ text }) => text).join(' '), language: 'en', durationMs: 60_000, words },
  segments: words.length === 0 ? [] : [word(words[0]!.startMs, words.at(-1)!.endMs, words.map(({ text }) => text).join(' '))], // prettier-ignore
});

describe('speakersOf', () => {
  test('the largest overlap wins; in a tie the speaker before, else the one who began first', () => {
    const spans = [span(7, 0, 1_000), span(8, 600, 2_000), span(9, 1_500, 3_000)];
    expect(speakersOf([word(0, 500), word(500, 1_300), word(1_500, 2_000)], spans)).toEqual([7, 8, 8]);
    expect(speakersOf([word(1_500, 2_000)], spans)).toEqual([8]);
  });

  test('without overlap, the nearest speech within 500 ms, else the speaker before; the first word the next', () => {
    const spans = [span(0, 5_000, 6_000), span(1, 9_000, 10_000)];
    expect(speakersOf([word(0, 400), word(6_400, 6_600), word(7_000, 8_000), word(8_100, 8_700)], spans)).toEqual([0, 0, 0, 1]); // prettier-ignore
    expect(speakersOf([word(0, 400), word(500, 900)], [])).toEqual([0, 0]);
  });

  test('"yes" of 0.3 s within the sentence of another keeps the sentence whole, and a longer answer does not', () => {
    const sentence = [word(0, 400), word(500, 900), word(1_000, 1_300, 'yes'), word(1_400, 1_800)];
    expect(speakersOf(sentence, [span(0, 0, 2_000), span(1, 950, 1_310)])).toEqual([0, 0, 0, 0]);
    const apart = [span(0, 0, 950), span(0, 1_350, 2_000)];
    expect(speakersOf(sentence, [apart[0]!, span(1, 1_000, 1_320), apart[1]!])).toEqual([0, 0, 0, 0]);
    expect(speakersOf(sentence, [apart[0]!, span(1, 950, 1_350), apart[1]!])).toEqual([0, 0, 1, 0]);
  });

  test('every word has a speaker who speaks, whatever overlaps', () => {
    const times = fc.tuple(fc.nat(60_000), fc.nat(20_000));
    const spansOf = fc.array(fc.tuple(times, fc.nat(3)), { minLength: 1, maxLength: 40 });
    const byStart = <T extends { startMs: number }>(list: readonly T[]) =>
      list.toSorted((a, b) => a.startMs - b.startMs);
    fc.assert(
      fc.property(spansOf, fc.array(times, { minLength: 1, maxLength: 60 }), (drawn, spoken) => {
        const spans = byStart(drawn.map(([[startMs, ms], speaker]) => span(speaker, startMs, startMs + ms + 1)));
        const words = byStart(spoken.map(([startMs, ms]) => word(startMs, startMs + (ms % 1_500))));
        const found = speakersOf(words, spans);
        expect(found).toHaveLength(words.length);
        expect(found.every((speaker) => spans.some((one) => one.speaker === speaker))).toBe(true);
        const { turns, segments, text } = labeled(transcriptOf(words), { spans });
        expect(segments.map((segment) => segment.text).join(' ')).toBe(text);
        for (const [index, turn] of turns.entries()) {
          expect(turn.endMs).toBeGreaterThanOrEqual(turn.startMs);
          expect(turn.startMs).toBeGreaterThanOrEqual(turns[index - 1]?.endMs ?? 0);
        }
      }),
    );
  });
});

describe('labeled', () => {
  test('letters come in the order of first words, and segments end where the speaker changes', () => {
    const words = [
      word(100, 500, 'Hello'),
      word(600, 1_000, 'there'),
      word(1_100, 1_500, 'Hi'),
      word(1_600, 2_000, 'you'),
    ];
    const transcript = { ...transcriptOf(words), text: 'Hello there. – Hi! You?'.replace('You', 'you') };
    const {
      segments,
      turns,
      words: spoken,
    } = labeled(transcript, { spans: [span(5, 0, 1_050), span(2, 1_080, 2_100)] });
    expect(segments.map(({ speaker, text }) => [speaker, text])).toEqual([['A', 'Hello there. –'], ['B', 'Hi! you?']]); // prettier-ignore
    expect(spoken?.map(({ speaker }) => speaker)).toEqual(['A', 'A', 'B', 'B']);
    expect(turns.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([[0, 1_050], [1_080, 2_100]]); // prettier-ignore
  });

  test('a thousand turns a minute, for an hour, are all there and in order', () => {
    const spans = Array.from({ length: 60_000 }, (_, n) => span(n % 7, n * 60, n * 60 + 60));
    const words = spans.map(({ startMs, endMs }, n) => word(startMs + 5, endMs - 5, `w${n}`));
    const { turns, segments } = labeled(transcriptOf(words), { spans });
    expect(segments).toHaveLength(60_000);
    expect(turns.map(({ startMs, endMs }) => [startMs, endMs])).toEqual(spans.map(({ startMs, endMs }) => [startMs, endMs])); // prettier-ignore
    expect(turns.every(({ speaker, text }, n) => speaker === letterOf(n % 7) && text === `w${n}`)).toBe(true);
  });

  test('words without any speech have one speaker, and silence has no turn', () => {
    expect(labeled(transcriptOf([word(0, 400)]), { spans: [] }).turns).toMatchObject([{ speaker: 'A' }]);
    expect(
      labeled({ text: '', language: null, segments: [], words: [] }, { spans: [span(0, 0, 9_000)] }).turns,
    ).toEqual([]);
  });

  test('a known speaker has a name, and no letter is the name of another', () => {
    const words = [0, 1, 2].map((n) => word(n * 1_000, n * 1_000 + 800));
    const spans = [0, 1, 2].map((n) => span(n, n * 1_000, n * 1_000 + 800));
    const names = new Map([[1, 'A']]);
    expect(labeled(transcriptOf(words), { spans, names }).turns.map(({ speaker }) => speaker)).toEqual(['B', 'A', 'C']);
  });

  test('after Z comes AA', () => {
    expect([0, 25, 26, 51, 52, 701, 702].map(letterOf)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA']);
  });
});
