/** The speakers of a recording: which of them remain, and the effect of a requested number. */
import { describe, expect, test } from 'vitest';
import type { SpeakerFinder, SpeakerSpan } from '../../../engines/contract/index.ts';
import fc from '../../support/fast-check.ts';
import { findSpeakers, foldSpeakers } from '../../../src/transcription/speakers/find.ts';

const span = (speaker: number, startMs: number, ms: number): SpeakerSpan => ({ speaker, startMs, endMs: startMs + ms });
const minute = 60_000;
const labels = (spans: readonly SpeakerSpan[]) => [...new Set(spans.map(({ speaker }) => speaker))].sort();

/** Two people in turns of 5 s. */
const dialogue = (minutes: number) =>
  Array.from({ length: minutes * 10 }, (_, turn) => span(turn % 2, turn * 6_000, 5_000));

describe('foldSpeakers', () => {
  test('two people in 20 minutes are two, beside four phantoms with 8 % of the speech', () => {
    const phantoms = Array.from({ length: 100 }, (_, n) => span(2 + (n % 4), n * 12_000 + 5_050, 900));
    const folded = foldSpeakers([...dialogue(20), ...phantoms]);
    expect(labels(folded)).toEqual([0, 1]);
    expect(folded).toHaveLength(300);
  });

  test('one who speaks once for 6 s in an hour remains, and a cough of 2 s does not', () => {
    expect(labels(foldSpeakers([...dialogue(60), span(2, 30 * minute, 6_000)]))).toEqual([0, 1, 2]);
    expect(labels(foldSpeakers([...dialogue(60), span(2, 30 * minute, 2_000)]))).toEqual([0, 1]);
  });

  test('no speaker remains whose longest speech is below 1 s, unless there is no other', () => {
    const short = Array.from({ length: 50 }, (_, n) => span(n % 2, n * 2_000, n % 2 === 0 ? 1_000 : 999));
    expect(labels(foldSpeakers(short))).toEqual([0]);
    expect(labels(foldSpeakers([span(4, 0, 300), span(7, 500, 900)]))).toEqual([7]);
    expect(foldSpeakers([])).toEqual([]);
  });

  test('speech goes to the nearest speaker, the earlier of two', () => {
    const folded = foldSpeakers([span(0, 0, 5_000), span(2, 5_100, 500), span(1, 5_650, 5_000), span(3, 10_700, 500), span(0, 11_250, 5_000), span(2, 16_350, 500), span(1, 16_950, 5_000)]); // prettier-ignore
    expect(folded.map(({ speaker }) => speaker)).toEqual([0, 1, 1, 1, 0, 0, 1]);
  });

  test('one remains if one was requested, whatever the recording contains', () => {
    const spans = fc.array(fc.tuple(fc.nat(40), fc.nat(3_600_000), fc.nat(20_000)), { minLength: 1, maxLength: 50 });
    const property = fc.property(spans, (drawn) => {
      const folded = foldSpeakers(drawn.map(([speaker, startMs, ms]) => span(speaker, startMs, ms + 1)), 1); // prettier-ignore
      expect(labels(folded)).toHaveLength(1);
      expect(folded).toHaveLength(drawn.length);
    });
    fc.assert(property);
  });

  test('no more remain than were requested', () => {
    const four = [0, 1, 2, 3].map((speaker) => span(speaker, speaker * 10_000, 9_000 - speaker * 1_000));
    expect(labels(foldSpeakers(four, 2))).toEqual([0, 1]);
    expect(labels(foldSpeakers(four, 1))).toEqual([0]);
  });
});

describe('findSpeakers', () => {
  const sound = { wavPath: '/none', startMs: 0, endMs: minute };
  const { signal } = new AbortController();

  /** Finds as many as it is asked for, and `usual` by itself. */
  function finderOf(usual: readonly SpeakerSpan[], divided: readonly SpeakerSpan[] = []) {
    const asked: (number | undefined)[] = [];
    const find: SpeakerFinder['find'] = (_sound, { clusters }) => {
      asked.push(clusters);
      return Promise.resolve({ spans: clusters === undefined ? usual : divided, distances: [] });
    };
    return { asked, finder: { maxMs: minute, find } };
  }

  const two = [span(0, 0, 5_000), span(1, 6_000, 5_000)];

  test('a number that fits changes nothing', async () => {
    const { asked, finder } = finderOf(two);
    expect((await findSpeakers(finder, sound, { minSpeakers: 2, maxSpeakers: 2, signal })).spans).toEqual(two);
    expect(asked).toEqual([undefined]);
  });

  test('divides the speech if there are too few, with room for what is removed', async () => {
    const { asked, finder } = finderOf([span(0, 0, 5_000), span(0, 6_000, 5_000), span(1, 12_000, 500)], [...two, span(2, 12_000, 500)]); // prettier-ignore
    expect(labels((await findSpeakers(finder, sound, { minSpeakers: 2, signal })).spans)).toEqual([0, 1]);
    expect(asked).toEqual([undefined, 3]);
  });

  test('progress does not decrease when the speech is divided', async () => {
    const seen: number[] = [];
    const spans = two.slice(0, 1);
    const find: SpeakerFinder['find'] = (_sound, { onProgress }) => {
      for (const fraction of [0.2, 1]) onProgress?.(fraction);
      return Promise.resolve({ spans, distances: [] });
    };
    await findSpeakers({ maxMs: minute, find }, sound, { minSpeakers: 2, signal, onProgress: (done) => seen.push(done) }); // prettier-ignore
    expect(seen).toEqual([0.1, 0.5, 0.6, 1]);
  });

  test('keeps what it has found if dividing finds no more', async () => {
    const { finder } = finderOf(two, [span(3, 0, 11_000), span(4, 12_000, 400)]);
    expect((await findSpeakers(finder, sound, { minSpeakers: 5, signal })).spans).toEqual(two);
  });

  test('gives each name to the nearest voice that is near enough, and each speaker one name', async () => {
    const namesWith = async (...distances: number[][]) => {
      const finder: SpeakerFinder = { maxMs: minute, find: () => Promise.resolve({ spans: two, distances }) };
      const known = ['Ada', 'Bob'].map((name) => ({ name, sound }));
      return Object.fromEntries((await findSpeakers(finder, sound, { known, signal })).names);
    };
    expect(await namesWith([0.1, 0.9], [0.8, 0.2])).toEqual({ 0: 'Ada', 1: 'Bob' });
    expect(await namesWith([0.3, 0.9], [0.2, 0.9])).toEqual({ 0: 'Bob' });
    expect(await namesWith([0.51, 0.6], [2, 2])).toEqual({});
    expect(await namesWith([0.5, 0.4], [0.1, 0.9])).toEqual({ 0: 'Bob', 1: 'Ada' });
  });

  test('rejects a recording that is too long, with the hours that fit', async () => {
    const { asked, finder } = finderOf(two);
    const long = { ...sound, endMs: 5 * 60 * minute };
    await expect(findSpeakers({ ...finder, maxMs: 100 * minute }, long, { signal })).rejects.toMatchObject({
      code: 'recording-too-long',
      message: expect.stringContaining('up to 1.6 hours') as unknown,
    });
    expect(asked).toEqual([]);
  });
});
