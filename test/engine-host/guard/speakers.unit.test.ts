/** What an engine reports about speakers is checked like every other result. */
import { expect, it } from 'vitest';
import type { FoundSpeakers, SpeakerFinder } from '../../../engines/contract/index.ts';
import { guardSpeakers } from '../../../src/engine-host/guard/calls.ts';

function guard(find: () => unknown, maxMs: unknown = 5_000) {
  const finder = { maxMs, find } as unknown as SpeakerFinder;
  const guarded = guardSpeakers(finder, { instance: 'mine', abortMs: 0, recheck: undefined });
  const ask = (onProgress?: (fraction: number) => void) =>
    guarded.find({ wavPath: '/x.wav', startMs: 0, endMs: 2_000 }, { signal: new AbortController().signal, ...(onProgress && { onProgress }) }); // prettier-ignore
  return { guarded, ask };
}

it('cuts spans to the length of the sound, and rounds them to milliseconds', async () => {
  const spans = [{ startMs: 0.4, endMs: 3_000, speaker: 0 }, { startMs: 2_000, endMs: 2_500, speaker: 1 }, { startMs: 9.1, endMs: 9.2, speaker: 1 }]; // prettier-ignore
  const expected: FoundSpeakers = { spans: [{ startMs: 0, endMs: 2_000, speaker: 0 }], distances: [[0.5]] };
  expect(await guard(() => ({ spans, distances: [[0.5]] })).ask()).toEqual(expected);
});

it.each([
  ['null', null],
  ['a span without a speaker', { spans: [{ startMs: 0, endMs: 1 }], distances: [] }],
  ['NaN', { spans: [{ startMs: NaN, endMs: 1, speaker: 0 }], distances: [] }],
  ['a distance that is no number', { spans: [], distances: [['near']] }],
])('fails the call for %s', async (_what, answer) => {
  await expect(guard(() => answer).ask()).rejects.toMatchObject({ code: 'engine-failed' });
});

it('has no length unless it is a number', () => {
  expect(guard(() => ({}), 'long').guarded.maxMs).toBeUndefined();
  expect(guard(() => ({}), 7_000).guarded.maxMs).toBe(7_000);
});
