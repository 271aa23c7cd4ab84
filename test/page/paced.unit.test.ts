/** A fast answer leaves room for everything else. */
import { setImmediate as nextTask } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { paced } from '../../page/paced.ts';

/** Takes a moment for each event, as drawing does. */
async function* fastAnswer(count: number): AsyncGenerator<number> {
  for (let event = 0; event < count; event++) {
    const until = performance.now() + 5;
    while (performance.now() < until);
    yield await Promise.resolve(event);
  }
}

test('a click is heard before the end of an answer that comes at once', async () => {
  const seen: (number | 'click')[] = [];
  const clicking = nextTask().then(() => seen.push('click'));
  for await (const event of paced(fastAnswer(50))) seen.push(event);
  await clicking;
  expect(seen.filter((one) => one !== 'click')).toEqual(Array.from({ length: 50 }, (_, event) => event));
  expect(seen.indexOf('click')).toBeLessThan(50);
});
