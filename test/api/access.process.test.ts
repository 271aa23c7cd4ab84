/** A start in open mode on an address that others reach is refused. */
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/child-service.ts';

describe('an address beyond loopback', () => {
  it('refuses to start without API_KEYS', async () => {
    const { exit, said } = await startProcess('src/bin/start.ts', { env: { HOST: '0.0.0.0', PORT: '0' } });
    expect(await exit).toEqual({ code: 1, signal: null });
    for (const name of ['HOST', 'API_KEYS', 'ALLOW_OPEN']) expect(said.stderr).toContain(name);
    expect(said.stderr).not.toMatch(/\n\s+at /);
  });
});
