/**
 * Records which files this service has downloaded. The service may remove only these files; all others belong to the
 * operator.
 */
import { rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { AssetFile } from '../../../engines/contract/index.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { errnoOf } from '../../../lib/errors.ts';
import { acquireLock, isLocked, lockOf } from '../../../lib/file-lock.ts';
import { parseObject } from '../../../lib/json.ts';
import { readRegularFile, replaceFile } from '../../../lib/regular-file.ts';

/** The name includes the folder, because files of different models may share a file name. */
const receiptOf = (dataDir: string, file: string) =>
  join(dataDir, 'downloads', `${relative(dataDir, file).replaceAll(sep, '+')}.json`);

/** Call this after a download. */
export async function recordDownload(dataDir: string, file: string): Promise<void> {
  await makeDirectory(join(dataDir, 'downloads'));
  await replaceFile(receiptOf(dataDir, file), JSON.stringify(await factsOf(file)));
}

/**
 * Resolves with false if there are no files. Rejects, before anything is removed, if one of the files was not
 * downloaded by this service or is being downloaded.
 */
export async function removeDownloads(
  dataDir: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const found: string[] = [];
  for (const file of files) {
    if (isLocked(lockOf(file))) throw new Error(`${file} is being downloaded`);
    const facts = await factsOf(file);
    if (facts === undefined) continue;
    const receipt = await readRegularFile(receiptOf(dataDir, file)).catch(() => '');
    const noted = parseObject(receipt);
    const isOurs = noted?.path === file && noted.bytes === facts.bytes && noted.mtimeMs === facts.mtimeMs;
    if (!isOurs) throw new Error(`${file} was not downloaded by Parlance; remove it yourself if you do not need it`);
    found.push(file);
  }
  const parts = files.map((file) => `${file}.part`);
  const hasParts = (await Promise.all(parts.map(factsOf))).some((facts) => facts !== undefined);
  const locks: Disposable[] = [];
  using _ended = { [Symbol.dispose]: () => locks.forEach((lock) => lock[Symbol.dispose]()) };
  for (const file of found) locks.push(await acquireLock(lockOf(file), { signal }));
  for (const path of [...found, ...parts]) await rm(path, { force: true });
  for (const file of found) await rm(receiptOf(dataDir, file), { force: true });
  return hasParts || found.length > 0;
}

/** Resolves with undefined if the file does not exist. */
async function factsOf(path: string) {
  try {
    const { size: bytes, mtimeMs } = await stat(path);
    return { path, bytes, mtimeMs };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Resolves with the number of missing bytes; partial downloads are subtracted. */
export async function bytesMissing(files: readonly Pick<AssetFile, 'path' | 'bytes'>[]): Promise<number> {
  const missing = files.map(async ({ path, bytes }) => {
    if (await factsOf(path)) return 0;
    return Math.max(0, bytes - ((await factsOf(`${path}.part`))?.bytes ?? 0));
  });
  return (await Promise.all(missing)).reduce((sum, bytes) => sum + bytes, 0);
}
