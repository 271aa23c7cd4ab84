/** Directories that appear when they are complete. */
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWholeDirectory } from '../../../engines/lib/whole-directory.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const fillWith = (text: string) => (path: string) => writeFile(join(path, 'file'), text);

test('a directory is made once', async () => {
  const parent = join(await temporaryDirectory(), 'new');
  await makeWholeDirectory(join(parent, 'voice'), fillWith('one'));
  await makeWholeDirectory(join(parent, 'voice'), fillWith('two'));
  expect(await readFile(join(parent, 'voice/file'), 'utf8')).toBe('one');
  expect(await readdir(parent)).toEqual(['voice']);
});

test('of several that make it at once, one is kept', async () => {
  const parent = await temporaryDirectory();
  await Promise.all(['one', 'two', 'three'].map((text) => makeWholeDirectory(join(parent, 'voice'), fillWith(text))));
  expect(['one', 'two', 'three']).toContain(await readFile(join(parent, 'voice/file'), 'utf8'));
  expect(await readdir(parent)).toEqual(['voice']);
});

test('one that cannot be filled leaves nothing', async () => {
  const parent = await temporaryDirectory();
  const fill = async (path: string) => {
    await fillWith('half')(path);
    throw new Error('disk full');
  };
  await expect(makeWholeDirectory(join(parent, 'voice'), fill)).rejects.toThrow('disk full');
  expect(await readdir(parent)).toEqual([]);
});

test('what a killed process has left is removed, and what another one is working on is not', async () => {
  const parent = await temporaryDirectory();
  for (const name of ['.making-old', '.making-new']) await mkdir(join(parent, name));
  await utimes(join(parent, '.making-old'), 1, 1);
  await makeWholeDirectory(join(parent, 'voice'), fillWith('one'));
  expect((await readdir(parent)).toSorted()).toEqual(['.making-new', 'voice']);
});
