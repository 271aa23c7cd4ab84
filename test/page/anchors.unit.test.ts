/** Notices stand where they happened. */
import { expect, test } from 'vitest';
import { Anchors } from '../../page/anchors.ts';

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

test('a notice stays behind the turn that was last when it appeared', () => {
  const anchors = new Anchors();
  const place = (names: readonly string[], ids: readonly number[]): unknown =>
    Object.fromEntries([...anchors.place(named(...names), ids)].map(([at, all]) => [at, all.map(({ name }) => name)]));
  expect(place(['job', 'recording'], [])).toEqual({ undefined: ['job', 'recording'] });
  expect(place(['job', 'recording', 'sound'], [1, 2])).toEqual({ undefined: ['job', 'recording'], 2: ['sound'] });
  expect(place(['job', 'sound'], [1, 2, 3])).toEqual({ undefined: ['job'], 2: ['sound'] });
  expect(place(['job', 'recording', 'sound'], [1, 5])).toEqual({ undefined: ['job'], 5: ['recording', 'sound'] });
  expect(place(['sound'], [8, 9])).toEqual({ 9: ['sound'] }); // another conversation
});
