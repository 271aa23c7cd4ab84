/** Reads files that the operator replaces while the service runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { readOperatorFile, type ReadFile } from './read-file.ts';
import { SettingsError } from './yaml.ts';

export interface FileSetting {
  /** The environment variable of the setting, for messages. */
  readonly setting: string;
  readonly path: string;
}

const readEveryMs = 100;
const maxReads = 50;
const untilNextRead = () => sleep(readEveryMs);

/**
 * Reads the files together until two reads, 100 ms apart, are equal: a half-written file may be valid, and files that
 * belong together are written one after the other. A pipe is read only once. Resolves with the texts. Throws a
 * `SettingsError` if a file cannot be read or does not stop changing. `wait` delays the next read.
 */
export async function readSettled(files: readonly FileSetting[], wait = untilNextRead): Promise<string[]> {
  let found = await Promise.all(files.map(read));
  let changed: FileSetting | undefined;
  for (let reads = 1; reads < maxReads && found.some(({ isRegular }) => isRegular); reads += 1) {
    await wait();
    const before = found.map(({ text }) => text);
    found = await Promise.all(found.map(async (file) => (file.isRegular ? read(file) : file)));
    changed = found.find(({ text }, index) => text !== before[index]);
    if (changed === undefined) break;
  }
  if (changed === undefined) return found.map(({ text }) => text);
  const { setting, path } = changed;
  throw new SettingsError(`${setting}: ${path} does not stop changing; fix: write another file and rename it`);
}

async function read({ setting, path }: FileSetting): Promise<FileSetting & ReadFile> {
  try {
    return { setting, path, ...(await readOperatorFile(path)) };
  } catch (cause) {
    throw new SettingsError(`${setting}: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
