/** Which sources a run has tested, so that the notes of an older run do not count for newer ones. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folders = ['src', 'engines', 'lib', 'generated', 'test', 'bench'];

/** A hash of every file that a test can run, by path and content. */
export async function fingerprint(home: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const entries = await readdir(join(home, folder), { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('/node_modules'))
      .map(({ parentPath, name }) => join(parentPath, name));
    for (const path of paths.toSorted()) {
      const content = await readFile(path);
      hash.update(`${path.slice(home.length)} ${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}
