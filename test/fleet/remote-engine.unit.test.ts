/** A front wraps an engine so that workers do its work. */
import { expect, test, vi } from 'vitest';
import type { Instance } from '../../src/engine-host/models/instance.ts';
import { wrapAsRemote, type RemoteEngineOptions } from '../../src/fleet/remote-engine.ts';

test('warms up no model for an upload, but warms up its own worker at the start', async () => {
  const warmUp = vi.fn();
  const engine = {
    models: [{ id: 'm', local: true }],
    transcribe: () => Promise.reject(new Error('not here')),
    warmUp,
  };
  const own = { name: 'local', engine } as unknown as Instance<'transcription'>;
  const { engine: front } = wrapAsRemote(own, { alsoHere: false } as RemoteEngineOptions);
  const { engine: both } = wrapAsRemote(own, { alsoHere: true } as RemoteEngineOptions);
  await Promise.all([front.warmUp?.(), front.warmUp?.('m'), both.warmUp?.('m')]);
  expect(warmUp).not.toHaveBeenCalled();
  await both.warmUp?.();
  expect(warmUp).toHaveBeenCalledExactlyOnceWith();
});
