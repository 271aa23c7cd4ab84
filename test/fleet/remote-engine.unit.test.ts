/** What a front keeps of an engine whose work is done by workers. */
import { expect, test, vi } from 'vitest';
import { wrapAsRemote, type RemoteEngineOptions } from '../../src/fleet/remote-engine.ts';

test('loads no model for a recording that a worker gets', () => {
  const warmUp = vi.fn();
  const engine = {
    models: () => Promise.resolve([{ id: 'm', local: true }]),
    availability: () => Promise.resolve({ available: true, code: 'ready', reason: 'Ready.' } as const),
    transcribe: () => Promise.reject(new Error('not here')),
    warmUp,
  };
  for (const alsoHere of [true, false]) {
    expect(wrapAsRemote('local', engine, { alsoHere } as RemoteEngineOptions).warmUp).toBeUndefined();
  }
  expect(warmUp).not.toHaveBeenCalled();
});
