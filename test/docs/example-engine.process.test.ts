/** The example engine: it passes the conformance kit, and transcribes by its path and as an installed package. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { upload } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { runScript } from '../support/scripts.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { writeFiles } from '../support/temporary.ts';
import { matches, stepsOf, withAnswer } from './support/answers.ts';
import { blockWith, home, readPage } from './support/pages.ts';

let folder: string;
let recording: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlance-example-'));
  recording = await readFile(spokenWords);
  const source = await readFile(join(home, 'examples/pocketsphinx.ts'), 'utf8');
  const installed = join(folder, 'node_modules');
  await mkdir(join(installed, '@parlance'), { recursive: true });
  await symlink(home, join(installed, '@parlance/server'));
  await writeFile(join(folder, 'pocketsphinx.ts'), source);
  await writeFiles(join(installed, 'parlance-pocketsphinx'), {
    'package.json': { name: 'parlance-pocketsphinx', version: '1.0.0', type: 'module', exports: './index.js' },
    'index.js': stripTypeScriptTypes(source),
  });
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

const guide = 'docs/writing-an-engine.md';
const words = '[yes, no, hello]';

async function serve(use: string): Promise<TestService> {
  await writeFile(join(folder, 'settings.yaml'), `engines: { sphinx: { use: ${use}, words: ${words} } }`);
  return startTestService({ env: { PARLANCE_CONFIG: join(folder, 'settings.yaml') } });
}

describeWith(['pocketsphinx_continuous'], 'the example engine', () => {
  test.each([
    ['by its path', './pocketsphinx.ts'],
    ['as an installed package', 'parlance-pocketsphinx'],
  ])('transcribes %s', async (_how, use) => {
    await using service = await serve(use);
    expect(await (await service.api('/transcribe/models')).json()).toMatchObject({
      data: [{ id: 'sphinx', name: 'PocketSphinx', engine: 'sphinx', local: true, available: true }],
      default: 'sphinx',
    });
    expect(await (await upload(service, recording)).json()).toEqual({
      text: 'yes no hello',
      language: 'en',
      duration_ms: 2100,
      model: 'sphinx',
    });
  });

  test('serves with the settings beside it', async () => {
    await using service = await startTestService({
      env: { PARLANCE_CONFIG: join(home, 'examples/parlance.config.yaml') },
    });
    expect(await (await upload(service, recording)).json()).toMatchObject({ text: 'yes no hello', model: 'sphinx' });
  });

  test('passes the conformance kit', async () => {
    const args = ['./pocketsphinx.ts', '--options', '{"words":["yes","no","hello"]}'];
    const { code, stdout } = await runScript('src/bin/check-engine.ts', args, { cwd: folder });
    const [shown] = stepsOf(blockWith(guide, 'console', '$ npm run --silent check-engine'));
    if (process.env.DOCS_UPDATE && shown)
      await writeFile(join(home, guide), withAnswer(readPage(guide), shown, stdout));
    else if (!matches(stdout, shown?.answer ?? '')) expect(stdout.trimEnd()).toBe(shown?.answer);
    expect(code).toBe(0);
  });
});

test('it is short', async () => {
  const source = await readFile(join(folder, 'pocketsphinx.ts'), 'utf8');
  expect(source.split('\n').length).toBeGreaterThan(30);
  expect(source.split('\n').length).toBeLessThan(60);
});

test('its settings are checked', async () => {
  await writeFile(join(folder, 'wrong.yaml'), 'engines: { sphinx: { use: ./pocketsphinx.ts, wrods: [yes] } }');
  const start = startTestService({ env: { PARLANCE_CONFIG: join(folder, 'wrong.yaml') } });
  await expect(start).rejects.toThrow('unknown setting "wrods"; did you mean "words"?');
});

test.each([
  ['by its path', './broken.mjs'],
  ['as an installed package', 'parlance-broken'],
])('one that breaks a rule is told so, %s', async (_how, engine) => {
  const broken = `export default { contract: 1, name: 'broken', capability: 'transcription',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({ models: [{ id: 'broken' }], transcribe: async () => ({}) }) };`;
  await writeFiles(folder, {
    'broken.mjs': broken,
    'node_modules/parlance-broken/package.json': { name: 'parlance-broken', type: 'module', exports: './index.js' },
    'node_modules/parlance-broken/index.js': broken,
  });
  const { code, stdout } = await runScript('src/bin/check-engine.ts', [engine], { cwd: folder });
  expect(stdout).toContain('BROKEN  the published models are valid and unique');
  expect(code).toBe(1);
});

test('nothing to check is a mistake of its own', async () => {
  const { code, stderr } = await runScript('src/bin/check-engine.ts', [], { cwd: folder });
  expect(stderr).toContain('check-engine -- ENGINE [--options JSON]');
  expect(code).toBe(2);
});
