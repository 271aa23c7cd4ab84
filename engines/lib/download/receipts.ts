/** What this service has downloaded itself, and may therefore remove: everything else belongs to the operator. */
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EngineContext } from '../../contract/index.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { errnoOf } from '../../../lib/errors.ts';
import { acquireLock, lockOf } from '../../../lib/file-lock.ts';
import { parseObject } from '../../../lib/json.ts';
import { readRegularFile, replaceFile } from '../../../lib/regular-file.ts';
import { isDownloading } from './download.ts';

type Place = Pick<EngineContext, 'dataDir'>;

const receiptOf = ({ dataDir }: Place, file: string) => join(dataDir, 'downloads', `${basename(file)}.json`);

/** To be called after a download. */
export async function noteDownload(place: Place, file: string): Promise<void> {
  await makeDirectory(join(place.dataDir, 'downloads'));
  await replaceFile(receiptOf(place, file), JSON.stringify(await factsOf(file)));
}

/** Rejects before anything is removed if one of the files is not ours, or is being downloaded. */
export async function removeDownloads(place: Place, files: readonly string[], signal: AbortSignal): Promise<void> {
  const found: string[] = [];
  for (const file of files) {
    if (isDownloading(file)) throw new Error(`${file} is being downloaded`);
    const facts = await factsOf(file);
    if (facts === undefined) continue;
    const receipt = await readRegularFile(receiptOf(place, file)).catch(() => '');
    const noted = parseObject(receipt);
    const isOurs = noted?.path === file && noted.bytes === facts.bytes && noted.mtimeMs === facts.mtimeMs;
    if (!isOurs) throw new Error(`${file} was not downloaded by Parlance; remove it yourself if you do not need it`);
    found.push(file);
  }
  const parts = files.map((file) => `${file}.part`);
  using locks = new DisposableStack();
  for (const file of found) locks.use(await acquireLock(lockOf(file), { signal }));
  for (const path of [...found, ...parts]) await rm(path, { force: true });
  for (const file of found) await rm(receiptOf(place, file), { force: true });
}

/** Undefined where there is no such file. */
async function factsOf(path: string) {
  try {
    const { size: bytes, mtimeMs } = await stat(path);
    return { path, bytes, mtimeMs };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Bytes of the files that are not on the disk yet. */
export async function bytesMissing(files: readonly { readonly to: string; readonly bytes: number }[]): Promise<number> {
  const missing = files.map(async ({ to, bytes }) => {
    if (await factsOf(to)) return 0;
    return Math.max(0, bytes - ((await factsOf(`${to}.part`))?.bytes ?? 0));
  });
  return (await Promise.all(missing)).reduce((sum, bytes) => sum + bytes, 0);
}
