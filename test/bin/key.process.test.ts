/** `key new`: a token, shown once, and its entry for the keys file. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readKeysFile } from '../../src/keys/keys-file.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

it('prints a token and a valid entry, and stores neither', async () => {
  const cwd = await temporaryDirectory();
  const { code, stdout, stderr } = await runScript('src/bin/key.ts', ['new', 'web-app'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const tokens = stdout.match(/^pl_web-app_[A-Za-z0-9_-]{43}$/gm) ?? [];
  expect(tokens).toHaveLength(1);
  const entry = stdout.slice(stdout.indexOf('  - name:'));
  const sha256 = createHash('sha256').update(tokens[0]!).digest('hex');
  expect(parse(entry)).toEqual([{ name: 'web-app', sha256 }]);
  expect(await readdir(cwd)).toEqual([]);
  await writeFiles(cwd, { 'keys.yaml': `keys:\n${entry}` });
  expect(await readKeysFile(join(cwd, 'keys.yaml'))).toEqual([{ name: 'web-app', sha256 }]);
});

it.each(['null', 'true', '123', '1e3', '0x10'])(
  'quotes a name that YAML takes for something else: %s',
  async (name) => {
    const cwd = await temporaryDirectory();
    const { stdout } = await runScript('src/bin/key.ts', ['new', name], { cwd });
    await writeFiles(cwd, { 'keys.yaml': `keys:\n${stdout.slice(stdout.indexOf('  - name:'))}` });
    expect(await readKeysFile(join(cwd, 'keys.yaml'))).toMatchObject([{ name }]);
  },
);

it.each([[[]], [['new']], [['old', 'app']], [['new', 'app', 'more']], [['new', 'My app']], [['new', 'key-1']]])(
  'explains itself: %j',
  async (args) => {
    const { code, stdout, stderr } = await runScript('src/bin/key.ts', args, { cwd: await temporaryDirectory() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('key new NAME');
  },
);
