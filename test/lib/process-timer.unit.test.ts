import { expect, test } from 'vitest';
import { afterMs } from '../../lib/process-timer.ts';

test('a stall of the process counts as one step', async () => {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  let isOver = false;
  using _timer = afterMs(50, () => {
    isOver = true;
    resolve(undefined);
  });
  for (const end = performance.now() + 60; performance.now() < end;);
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  await over;
});
