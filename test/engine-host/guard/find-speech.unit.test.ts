/** The detector of an engine, which a live session asks, cannot fail the session. */
import { expect, it } from 'vitest';
import type { TranscriptionEngine } from '../../../engines/contract/index.ts';
import { guardFindSpeech } from '../../../src/engine-host/guard/calls.ts';

type FindSpeech = NonNullable<TranscriptionEngine['findSpeech']>;

function guard(findSpeech: (...args: Parameters<FindSpeech>) => unknown) {
  const session = new AbortController();
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_facts: object, text: string) => void warnings.push(text) };
  const ask = guardFindSpeech({ findSpeech: findSpeech as FindSpeech }, { log });
  const { signal } = session;
  return { ask: () => ask('/sound.wav', 2_000, { signal }), warnings, abort: () => session.abort(new Error('late')) };
}

const spans = [{ startMs: 0, endMs: 300 }, { startMs: 500.5, endMs: 2_000 }]; // prettier-ignore

it.each([
  ['the speech that it finds', spans],
  ['silence', []],
  ['that it is not installed', undefined],
])('reports %s', async (_what, answer) => {
  const { ask, warnings } = guard(() => Promise.resolve(answer));
  expect(await ask()).toEqual(answer);
  expect(warnings).toEqual([]);
});

it.each([
  ['null', () => null],
  ['an object', () => ({})],
  ['speech without times', () => [{}]],
  ['speech after the end', () => [{ startMs: 0, endMs: 2_001 }]],
  ['speech that ends before it begins', () => [{ startMs: 9, endMs: 8 }]],
  ['speech that overlaps', () => [spans[1], spans[0]]],
  [
    'an exception',
    () => {
      throw new TypeError('broken');
    },
  ],
])('has no answer for %s, and logs it', async (_what, answer) => {
  const { ask, warnings } = guard(answer);
  expect(await ask()).toBeUndefined();
  expect(warnings).toEqual(['the engine failed to find speech']);
});

it('has no answer once the session no longer waits', async () => {
  const { ask, warnings, abort } = guard(() => new Promise(() => {}));
  const answer = ask();
  abort();
  expect(await answer).toBeUndefined();
  expect(warnings).toEqual([]);
});
