/** Listing models does not wait for a provider that does not answer. */
import { describe, expect, test } from 'vitest';
import { stalls } from '../../support/provider.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { openWithDiscovery } from './support.ts';

describe('the list', () => {
  test('is waited for but a moment', async () => {
    const { ids, provider } = await openWithDiscovery(stalls);
    const elapsedMs = startStopwatch();
    expect(await ids()).toEqual([]);
    expect(elapsedMs()).toBeLessThan(500); // the start has waited already
    await expect.poll(() => provider.calls.length).toBe(1);
  });
});
