/** What setup prepares, by name and without one, and what the doctor says can be had. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

/** Notes what it is asked to prepare in a file. */
const engine = (members: string) => `
  import { appendFileSync } from 'node:fs';
  export default {
    contract: 1, name: 'mine', capability: 'speech',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: (options, context) => ({
      models: async () => [{ id: context.instance, local: true }],
      availability: async () => ({ available: true, code: 'ready', reason: 'Ready.' }),
      synthesize: async () => undefined,
      prepare: async ({ id, isAsked }) => {
        appendFileSync(context.resolve('prepared'), [context.instance, id, isAsked].join(' ') + '\\n');
      },
      ${members}
    }),
  };`;

const offers = `preparations: async () => [
  { id: 'voice', title: 'A voice', bytes: 63201294, licence: 'CC0', state: 'missing' },
  { id: 'base', title: 'The base', bytes: null, licence: 'MIT', state: 'ready', atStart: true },
],`;

async function machine() {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, {
    'parlance.config.yaml':
      'engines: { first: { use: ./offers.mjs }, second: { use: ./offers.mjs }, old: { use: ./old.mjs } }',
    'offers.mjs': engine(offers),
    'old.mjs': engine(''),
    prepared: '',
  });
  const run = (script: string, ...args: string[]) =>
    runScript(`src/bin/${script}.ts`, args, { cwd, env: { DATA_DIR: join(cwd, 'data') } });
  const prepared = async () => (await readFile(join(cwd, 'prepared'), 'utf8')).split('\n').slice(0, -1).toSorted();
  return { cwd, run, prepared };
}

test('without a name: what starts unasked, and engines that name no parts', async () => {
  const { run, prepared } = await machine();
  const { code, stderr } = await run('setup');
  expect(stderr).toContain('Everything that can be prepared is there.');
  expect(code).toBe(0);
  expect(await prepared()).toEqual(['first base true', 'old  true', 'second base true']);
});

test('with a name: what has this id, of every engine, and nothing else', async () => {
  const { run, prepared } = await machine();
  const { code } = await run('setup', 'voice');
  expect(code).toBe(0);
  expect(await prepared()).toEqual(['first voice true', 'second voice true']);
});

test('an unknown name is an error that lists the known ones, and prepares nothing', async () => {
  const { run, prepared } = await machine();
  const { code, stderr } = await run('setup', 'voice', 'viola');
  expect(stderr).toBe('setup: nothing is called "viola"; known: voice, base\n');
  expect(code).toBe(1);
  expect(await prepared()).toEqual([]);
});

test('the doctor lists what can be had, and does not call it missing', async () => {
  const { run } = await machine();
  const { stdout } = await run('doctor');
  const voice =
    'absent  voice        A voice (first), 61 MiB, licence CC0, missing\n          fix: npm run setup -- voice';
  expect(stdout).toContain(voice);
  expect(stdout).toContain('ok      base         The base (first), licence MIT, ready\n');
});

test.for([
  ['an id twice', `[one, one]`, '`preparations()` has an id twice'],
  [
    'an id with a space',
    `[{ ...one, id: 'my voice' }]`,
    '`preparations()`[0].id is not 1 to 64 letters, digits, dots, hyphens and underscores',
  ],
  ['a negative size', `[{ ...one, bytes: -1 }]`, '`preparations()`[0].bytes is neither a whole number nor null'],
  ['an unknown state', `[{ ...one, state: 'fine' }]`, '`preparations()`[0].state is none of ready, preparing, missing'],
  ['no list', `undefined`, '`preparations()` did not return an array'],
] as const)('%s is refused, and the others are prepared', async ([, list, why]) => {
  const { cwd, run, prepared } = await machine();
  const one = `{ id: 'voice', title: 'A voice', bytes: 1, licence: 'CC0', state: 'missing', atStart: true }`;
  await writeFiles(cwd, { 'old.mjs': engine(`preparations: async () => { const one = ${one}; return ${list}; },`) });
  const { code, stderr } = await run('setup');
  expect(stderr).toContain(why);
  expect(code).toBe(1);
  expect(await prepared()).toEqual(['first base true', 'second base true']);
});
