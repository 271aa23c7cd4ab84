/** The store of client secrets of one process. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createClientSecrets, createSecretStore } from '../../src/keys/client-secrets.ts';
import { createKey } from '../../src/keys/key.ts';
import { runInScope } from '../../src/request-scope.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const keyOf = (tokenDigest: string) => createKey(tokenDigest.replace(/^token of /, ''));
const session = { type: 'transcription' };

it('expires, and then makes room for another one of its key', async () => {
  const secrets = createClientSecrets(createSecretStore(), { keyOf });
  const create = (name: string) =>
    runInScope({ caller: name, key: createKey(name), tokenDigest: `token of ${name}` }, () =>
      secrets.create(name === 'app' ? 10 : 20, session),
    );
  const made = await Promise.all(Array.from({ length: 1_000 }, () => create('app')));
  await expect(create('app')).rejects.toMatchObject({ code: 'rate-limited' });
  await create('other');
  expect(await secrets.find(made[0]!.value)).toMatchObject({ credential: { key: { name: 'app' } }, session });
  vi.advanceTimersByTime(10_000);
  expect(await secrets.find(made[0]!.value)).toBeUndefined();
  await create('app');
});
