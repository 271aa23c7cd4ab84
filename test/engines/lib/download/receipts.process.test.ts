/** Files beside a downloaded model that are none: opening a pipe would wait for its other end. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { noteDownload, removeDownloads } from '../../../../engines/lib/download/receipts.ts';
import { temporaryDirectory } from '../../whisper-cli/support.ts';

const { signal } = new AbortController();

test.each([
  ['the note of its download', 'downloads/model.bin.json', 'was not downloaded by Parlance'],
  ['the mark of its removal', 'model.bin.removing', 'is not a regular file'],
])('a pipe in place of %s fails the removal of a model at once', async (_what, name, message) => {
  const dataDir = await temporaryDirectory();
  const file = join(dataDir, 'model.bin');
  await writeFile(file, 'a model');
  await mkdir(join(dataDir, 'downloads'));
  if (!name.startsWith('downloads')) await noteDownload({ dataDir }, file);
  await promisify(execFile)('mkfifo', [join(dataDir, name)]);
  await expect(removeDownloads({ dataDir }, [file], signal)).rejects.toThrow(message);
  expect(await readdir(dataDir)).toContain('model.bin');
});
