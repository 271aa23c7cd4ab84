/** How far a model is that is still being prepared, in the probe and in the listings. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { startTestService, type TestService } from '../support/service.ts';

const availabilities = {
  known: { available: false, code: 'preparing', reason: 'Downloading.', progress: 0.25 },
  unknown: { available: false, code: 'preparing', reason: 'Downloading.' },
  ready: { available: true, code: 'ready', reason: 'Ready.', progress: 1 },
  beyond: { available: false, code: 'preparing', reason: 'Downloading.', progress: 1.5 },
};

const engine = `
const availabilities = ${JSON.stringify(availabilities)};
export default ['transcription', 'speech'].map((capability) => ({
  contract: 1,
  name: 'preparing',
  capability,
  options: { type: 'object', properties: {} },
  create: () => ({
    models: Object.entries(availabilities).map(([id, availability]) => ({ id, local: true, availability })),
    transcribe() {},
    synthesize() {},
  }),
}));
`;

let service: TestService;
beforeAll(async () => {
  const config = 'engines: { preparing: { use: ./preparing.mjs } }\n';
  service = await startTestService({ config, files: { 'preparing.mjs': engine } });
});
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string) => await (await service.api(path)).json();

it('is a number from 0 to 1, or null when the engine does not know', async () => {
  expect(await get('/transcribe?model=known')).toEqual({ ...availabilities.known, model: 'known' });
  expect(await get('/transcribe?model=unknown')).toEqual({
    ...availabilities.unknown,
    progress: null,
    model: 'unknown',
  });
  expect(await get('/transcribe?model=ready')).toEqual({
    available: true,
    code: 'ready',
    reason: 'Ready.',
    model: 'ready',
  });
});

it.each(['/transcribe/models', '/tts/models'])('is in the entries of %s', async (path) => {
  const { data } = (await get(path)) as Schemas['ModelList'];
  // `beyond` breaks the contract.
  expect(data.map(({ id, code, progress }) => [id, code, progress])).toEqual([
    ['known', 'preparing', 0.25],
    ['unknown', 'preparing', null],
    ['ready', 'ready', undefined],
  ]);
});
