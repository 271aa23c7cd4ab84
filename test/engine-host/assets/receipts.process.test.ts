/** Files beside a downloaded model that are not files: opening a pipe would wait for its other end. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { removeDownloads } from '../../../src/engine-host/assets/receipts.ts';
import { temporaryDirectory } from '../../engines/whisper-cli/support.ts';

const { signal } = new AbortController();

test('a pipe in place of the note of its download fails the removal of a model at once', async () => {
  const dataDir = await temporaryDirectory();
  const file = join(dataDir, 'model.bin');
  await writeFile(file, 'a model');
  await mkdir(join(dataDir, 'downloads'));
  await promisify(execFile)('mkfifo', [join(dataDir, 'downloads/model.bin.json')]);
  await expect(removeDownloads(dataDir, [file], signal)).rejects.toThrow('was not downloaded by Parlance');
  expect(await readdir(dataDir)).toContain('model.bin');
});
