import { expect, it, vi } from 'vitest';
import { entryOf, fixedModels, ready, readyOrBusy, serveModels } from '../../../engines/lib/serve-models.ts';

const models = [{ id: 'one', name: 'The first' }, { id: 'two' }];

it('serves the models of the settings, in their order', async () => {
  const served = serveModels(
    fixedModels(models, (model) => entryOf(model, { local: true })),
    () => ready,
  );
  await expect(served.models()).resolves.toEqual([
    { id: 'one', name: 'The first', local: true },
    { id: 'two', local: true },
  ]);
  expect(served.modelOf('two')).toBe(models[1]);
});

it('asks for the availability of a model that it serves', async () => {
  const availabilityOf = vi.fn(() => ready);
  const { availability } = serveModels(
    fixedModels(models, (model) => entryOf(model, { local: false })),
    availabilityOf,
  );
  await expect(availability('one')).resolves.toBe(ready);
  expect(availabilityOf).toHaveBeenCalledExactlyOnceWith(models[0]);
});

it('rejects an unknown model with unknown-model', async () => {
  const { availability, modelOf } = serveModels(
    fixedModels(models, (model) => entryOf(model, { local: false })),
    () => ready,
  );
  await expect(availability('three')).rejects.toMatchObject({ code: 'unknown-model' });
  expect(() => modelOf('three')).toThrow('This engine does not serve "three".');
});

it.each([
  [false, 'ready'],
  [true, 'busy'],
])('is available with a queue, full: %s, code %s', (full, code) => {
  expect(readyOrBusy({ full })).toMatchObject({ available: true, code });
});
