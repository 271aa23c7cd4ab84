/** A front wraps an engine so that workers do its work. */
import { expect, test, vi } from 'vitest';
import { wrapAsRemote, type RemoteEngineOptions } from '../../src/fleet/remote-engine.ts';

test('warms up no model for an upload, but warms up its own worker at the start', async () => {
  const warmUp = vi.fn();
  const engine = {
    models: () => Promise.resolve([{ id: 'm', local: true }]),
    availability: () => Promise.resolve({ available: true, code: 'ready', reason: 'Ready.' } as const),
    transcribe: () => Promise.reject(new Error('not here')),
    warmUp,
  };
  const front = wrapAsRemote('local', engine, { alsoHere: false } as RemoteEngineOptions);
  const both = wrapAsRemote('local', engine, { alsoHere: true } as RemoteEngineOptions);
  await Promise.all([front.warmUp?.(), front.warmUp?.('m'), both.warmUp?.('m')]);
  expect(warmUp).not.toHaveBeenCalled();
  await both.warmUp?.();
  expect(warmUp).toHaveBeenCalledExactlyOnceWith();
});
