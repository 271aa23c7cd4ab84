/** A hostile Prefer header is rejected in linear time. */
import { describe, expect, it } from 'vitest';
import { startStopwatch } from '../support/stopwatch.ts';
import { serveSandbox } from './support.ts';

const sandbox = serveSandbox({ env: { API_KEYS: 'a-key' } });
const prefer = (preference: string) => ({ prefer: preference });

describe('the preference', () => {
  it('does not take long over a hostile header', async () => {
    const elapsedMs = startStopwatch();
    await sandbox.api.get('/api/v1/models', { ...prefer('a'.repeat(12_000)), authorization: 'Bearer a-key' });
    expect(elapsedMs()).toBeLessThan(1_000);
  });
});
