/** Settings and keys files that are no regular files: symlinks, and pipes with and without a writer. */
import { execFileSync, spawn } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKeysFile } from '../../src/keys/keys-file.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { readOperatorFile, readOperatorFileSync } from '../../src/settings/read-file.ts';
import { keysFile } from '../keys/support/keys.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

async function pipe(text?: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [path]);
  if (text !== undefined) spawn('sh', ['-c', 'printf %s "$1" > "$0"', path, text], { stdio: 'ignore' });
  return path;
}

test('settings may come through a pipe', async () => {
  const path = await pipe('port: 8123\n');
  expect(loadSettings({ PARLANCE_CONFIG: path }).port).toBe(8123);
});

test('keys may come through a pipe, which can be read once', async () => {
  expect(await readKeysFile(await pipe(keysFile({ name: 'web' })))).toMatchObject([{ name: 'web' }]);
});

test('a symlink is followed', async () => {
  const directory = await temporaryDirectory();
  await writeFiles(directory, { 'keys.yaml': keysFile({ name: 'web' }), 'config.yaml': 'port: 8123\n' });
  const link = async (name: string) => {
    await symlink(join(directory, name), join(directory, `link-${name}`));
    return join(directory, `link-${name}`);
  };
  expect(await readKeysFile(await link('keys.yaml'))).toMatchObject([{ name: 'web' }]);
  expect(loadSettings({ PARLANCE_CONFIG: await link('config.yaml') }).port).toBe(8123);
});

test('a pipe without a writer fails after 5 s', async () => {
  const path = await pipe();
  const message = 'nothing has written it to its end within 5 s';
  expect(() => readOperatorFileSync(path, () => undefined)).toThrow(message);
  await expect(readOperatorFile(path, () => undefined)).rejects.toThrow(message);
});

test('/dev/null is an empty file, and /dev/zero is too long', () => {
  expect(readOperatorFileSync('/dev/null').text).toBe('');
  expect(() => readOperatorFileSync('/dev/zero')).toThrow('more than 16 MiB');
});
