import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadSettings } from '../../src/settings/load.ts';
import { fileSchema } from '../../src/settings/table.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

async function init(cwd: string) {
  const end = await runScript('src/bin/init.ts', [], { cwd });
  return { ...end, text: await readFile(join(cwd, 'parlance.config.yaml'), 'utf8') };
}

const uncommented = (text: string) => text.replace(/^#(?=[^\s!]| {2,})/gm, '');

it('writes a file that changes nothing and names its schema', async () => {
  const cwd = await temporaryDirectory();
  const { code, stdout, text } = await init(cwd);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Created ${join(cwd, 'parlance.config.yaml')} with every setting commented out; remove the # of those that you change.\n`,
  });
  const { file, ...settings } = loadSettings({}, cwd);
  expect(settings).toEqual({ ...loadSettings({}, await temporaryDirectory()), baseDir: cwd });
  expect(file?.path).toBe(join(cwd, 'parlance.config.yaml'));
  const [, schema = ''] = /^# yaml-language-server: \$schema=(.*)$/m.exec(text) ?? [];
  expect(JSON.parse(await readFile(resolve(cwd, schema), 'utf8'))).toMatchObject({ title: 'parlance.config.yaml' });
});

it('has every setting, and each is valid without its comment mark', async () => {
  const cwd = await temporaryDirectory();
  const { text } = await init(cwd);
  const values = parse(uncommented(text)) as object;
  expect(Object.keys(values).sort()).toEqual(Object.keys(fileSchema.properties).sort());
  await writeFiles(cwd, { 'parlance.config.yaml': uncommented(text) });
  expect(loadSettings({}, cwd)).toMatchObject({
    port: 8484,
    ttsModel: 'espeak',
    engines: { espeak: { use: 'espeak' } },
  });
  const schema = JSON.parse(
    await readFile(join(import.meta.dirname, '../../generated/config.schema.json'), 'utf8'),
  ) as object;
  const validate = new Ajv({ strict: false, formats: { iri: true } }).compile(schema);
  expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
});

it('never overwrites', async () => {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { 'parlance.config.yaml': 'port: 1\n' });
  const { code, stderr, text } = await init(cwd);
  expect(stderr).toBe(`${join(cwd, 'parlance.config.yaml')} already exists; not overwritten.\n`);
  expect({ code, text }).toEqual({ code: 1, text: 'port: 1\n' });
});
