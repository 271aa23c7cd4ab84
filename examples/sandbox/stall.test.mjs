import assert from 'node:assert';
import { test } from 'node:test';
import { startSandbox } from '@parlance/server/sandbox';

test('the app gives up on a service that does not answer', async () => {
  await using sandbox = await startSandbox();
  sandbox.next({ stall: 60 });
  const signal = AbortSignal.timeout(200);
  const answer = sandbox.client.chat({ messages: [{ role: 'user', content: 'Hello' }] }, { signal });
  await assert.rejects(answer, { name: 'TimeoutError' });
});
