import { randomUUID } from 'node:crypto';
import { link, lstat, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Logger } from '../../contract/index.ts';
import { pause } from '../../../lib/abort.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { NotRegularFileError, readRegularFile } from '../../../lib/regular-file.ts';
import { errnoOf } from '../../../lib/errors.ts';

const pollMs = 200;

/** Lock ids of this process: a lock with our pid but another id belongs to an earlier process. */
const ours = new Set<string>();

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

interface LockOptions {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called once if the lock is held by others. */
  readonly onWait?: (() => void) | undefined;
  /** A lock that was not touched for this time is stale; its holder touches it four times as often. */
  readonly staleAfterMs?: number;
}

const defaultStaleAfterMs = 20_000;

/**
 * Acquires the lock file at `path`, waiting for other processes and for other calls in this process. Disposing of the
 * result releases it.
 *
 * A lock is stale if its process on this host is gone. Where the pid proves nothing (another host or container on the
 * same volume, or a pid that was reused after a restart), it is stale after `staleAfterMs` without a touch.
 */
export async function acquireLock(
  path: string,
  { signal, log, onWait = () => {}, staleAfterMs = defaultStaleAfterMs }: LockOptions,
): Promise<AsyncDisposable> {
  const mine: Holder = { id: randomUUID(), pid: process.pid, host: hostname() };
  await makeDirectory(dirname(path));
  ours.add(mine.id);
  try {
    await waitForTurn(path, JSON.stringify(mine), { signal, log, onWait, staleAfterMs });
  } catch (error) {
    ours.delete(mine.id);
    throw error;
  }
  const heartbeat = setInterval(() => void touch(path, log), staleAfterMs / 4).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      if ((await read(path)) === JSON.stringify(mine)) await rm(path, { force: true });
      ours.delete(mine.id);
    },
  };
}

/** The lock for making a file. */
export const lockOf = (path: string): string => `${path}.lock`;

/** Whether somebody holds the lock now. */
export async function isLocked(path: string): Promise<boolean> {
  const [text, touched] = [await read(path), await touchedAt(path)];
  if (text === undefined || touched === undefined) return false;
  return !isDead(parse(text)) && Date.now() - touched < defaultStaleAfterMs;
}

async function waitForTurn(
  path: string,
  mine: string,
  { signal, log, onWait, staleAfterMs }: Required<LockOptions> & { readonly onWait: () => void },
): Promise<void> {
  // Measured with our own clock: comparing the mtime with the current time would need synchronized machines.
  let seen = { touched: Number.NaN, at: 0 };
  let announced = false;
  for (;;) {
    signal.throwIfAborted();
    if (await create(path, mine)) return;
    const [text, touched] = [await read(path), await touchedAt(path)];
    if (text === undefined || touched === undefined) continue;
    if (touched !== seen.touched) seen = { touched, at: performance.now() };
    const holder = parse(text);
    if (isDead(holder) || performance.now() - seen.at > staleAfterMs) {
      log.warn({ lock: path, holder }, 'removing a stale lock');
      await removeStale(path, text);
      continue;
    }
    if (!announced) {
      log.info({ lock: path, holder }, 'waiting for another process that holds the lock');
      onWait();
    }
    announced = true;
    await pause(pollMs, signal);
  }
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined while the holder is still writing the file. */
function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
}

function isDead(holder: Holder | undefined): boolean {
  if (holder?.host !== hostname()) return false;
  if (holder.pid === process.pid) return !ours.has(holder.id);
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
}

/** Renames the lock away and checks it again: another waiter may have replaced the stale lock with its own. */
async function removeStale(path: string, stale: string): Promise<void> {
  if ((await read(path)) !== stale) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  if ((await read(aside)) !== stale) await link(aside, path);
  await rm(aside, { recursive: true });
}

async function touch(path: string, log: Logger): Promise<void> {
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    log.warn({ lock: path, error }, 'could not touch a lock');
  }
}

/** Empty where it is not a regular file: no process has made it, and it becomes stale. */
function read(path: string): Promise<string | undefined> {
  const text = readRegularFile(path).catch((error: unknown) => {
    if (error instanceof NotRegularFileError) return '';
    throw error;
  });
  return undefinedIfMissing(text);
}

async function touchedAt(path: string): Promise<number | undefined> {
  return (await undefinedIfMissing(lstat(path)))?.mtimeMs;
}

async function undefinedIfMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String(errnoOf(error)))) return undefined;
    throw error;
  }
}
