/** Directories and files for one test; they go when it ends. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'parlance-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Texts and bytes by their path below the directory, which is returned; JSON for what is neither. */
export async function writeFiles(directory: string, files: Readonly<Record<string, unknown>>): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  }
  return directory;
}

/** What is in a directory, and below it if wanted, without the files of locks, which stay. */
export async function entriesOf(directory: string, options: { readonly recursive?: boolean } = {}): Promise<string[]> {
  const names = await readdir(directory, options);
  return names.filter((name) => !/(^|\/)\.locks(\/|$)/.test(name));
}
