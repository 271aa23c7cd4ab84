/** What has been opened when a later part of the service cannot be built is closed again. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { pino } from 'pino';
import { openApp } from '../../src/open-app.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

vi.mock('../../src/http/router.ts', () => ({
  createRouter() {
    throw new Error('no router');
  },
}));

const engine = `
import { writeFileSync } from 'node:fs';

export default {
  contract: 1,
  name: 'closing',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [],
    async *complete() {},
    [Symbol.asyncDispose]: async () => writeFileSync(context.resolve('closed'), ''),
  }),
};
`;

it('closes everything when the router cannot be created: engines, and what runs on a timer', async () => {
  const dir = await temporaryDirectory();
  await writeFiles(dir, { 'engine.mjs': engine, 'parlance.config.yaml': { engines: { a: { use: './engine.mjs' } } } });
  const env = { PATH: process.env.PATH, DATA_DIR: join(dir, 'data'), API_KEYS: 'k'.repeat(32) };
  const [started, cleared] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  const opening = openApp({ settings: loadSettings(env, dir), env, log: pino({ level: 'silent' }) });
  await expect(opening).rejects.toThrow('no router');
  expect(await readdir(dir)).toContain('closed');
  expect(await readdir(join(dir, 'data', 'tmp'))).toEqual([]);
  const timers = started.mock.results.map(({ value }) => value as unknown);
  expect(timers).not.toEqual([]);
  expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(timers));
});
