/** Listing models does not wait for a provider that does not answer. */
import { describe, expect, test } from 'vitest';
import { stalls, startProvider, type Behaviour } from '../../support/provider.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { openAgent, says } from './support.ts';

/** /models by one behaviour, chat by another. */
const serves =
  (models: Behaviour, chat: Behaviour = says('Hi.')): Behaviour =>
  (call) =>
    (call.path === '/v1/models' ? models : chat)(call);

interface Discovering {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly now?: () => number;
}

/** Without `models`. */
async function open(behaviour: Behaviour, { options = {}, now = Date.now }: Discovering = {}) {
  const provider = await startProvider();
  provider.behave(serves(behaviour));
  const agent = await openAgent({ baseUrl: provider.baseUrl, ...options }, { now });
  const ids = async () => (await agent.models()).map(({ id }) => id);
  const listings = () => provider.calls.filter(({ path }) => path === '/v1/models').length;
  return { ...agent, provider, ids, listings };
}

describe('the list', () => {
  test('is waited for but a moment', async () => {
    const { ids, provider } = await open(stalls);
    const elapsedMs = startStopwatch();
    expect(await ids()).toEqual([]);
    expect(elapsedMs()).toBeLessThan(500); // the start has waited already
    await expect.poll(() => provider.calls.length).toBe(1);
  });
});
