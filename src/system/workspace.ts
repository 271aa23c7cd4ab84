/**
 * The temporary directory of this process. The directory is removed when the process exits; the next startup removes
 * the directories of killed processes.
 */
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../lib/make-directory.ts';
import type { Logger, TemporaryDirectory } from '../../engines/contract/index.ts';
import { DiskBudget, spaceOf, type AccountOptions, type DiskAccount, type SharedAccount } from './disk-budget.ts';
import { errnoOf } from '../../lib/errors.ts';

const dayMs = 86_400_000;

/** Functions that remove the directories. All share one exit listener, because Node.js warns about more than ten. */
const removals = new Set<() => void>();
process.on('exit', () => removals.forEach((remove) => remove()));

/** A directory with a disk account. Disposal removes the files and then releases their bytes. */
export interface AccountedDirectory extends TemporaryDirectory {
  readonly account: SharedAccount;
}

export type Workspace = Awaited<ReturnType<typeof createWorkspace>>;

/**
 * Creates the directory under `root` and removes those of dead processes. If files cannot be removed later, for example
 * because the disk has become read-only, this is only logged and does not fail requests or the shutdown.
 */
export async function createWorkspace(root: string, diskBytes?: number, log?: Pick<Logger, 'warn'>) {
  await makeDirectory(root);
  await removeStale(root);
  const path = join(root, nameOf(process.pid));
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 }); // with `recursive`, EROFS would be reported as ENOENT
  const left = (err: unknown) =>
    log?.warn({ err }, 'temporary files could not be removed; the next start removes them');
  const remove = () => {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      left(error);
    }
  };
  removals.add(remove);
  let disposed = false;
  const disk = new DiskBudget({ bytes: diskBytes, space: () => spaceOf(root) });
  const accounts = new Map<string, DiskAccount>();
  const directory = async (purpose: string): Promise<TemporaryDirectory> => {
    // After a day without work, a cleanup in another container may have removed the directory as stale.
    if (!disposed) await mkdir(path, { recursive: true, mode: 0o700 });
    const own = await mkdtemp(join(path, `${purpose}-`));
    return {
      path: own,
      [Symbol.asyncDispose]: () => rm(own, { recursive: true, force: true, maxRetries: 2 }).catch(left),
    };
  };
  return {
    path,
    disk,
    /** Creates a private directory (0700). The caller must dispose of it. */
    directory,
    /** Creates a private directory with a disk account. Throws `storage-full`. */
    async accountedDirectory(purpose: string, options?: AccountOptions): Promise<AccountedDirectory> {
      const account = disk.open(options);
      const made = await directory(purpose);
      accounts.set(made.path, account);
      return {
        path: made.path,
        account,
        async [Symbol.asyncDispose]() {
          accounts.delete(made.path);
          await made[Symbol.asyncDispose](); // never rejects
          account[Symbol.dispose]();
        },
      };
    },
    /** Returns the disk account of the directory that contains the file; undefined if the directory has no account. */
    accountOf: (file: string) => accounts.get(dirname(file)),
    [Symbol.dispose]() {
      disposed = true;
      removals.delete(remove);
      remove();
    },
  };
}

/** Returns a name that is unique even for a reused pid (start time) and across containers (pid namespace). */
function nameOf(pid: number): string {
  made += 1;
  return `parlance-${namespace}-${String(pid)}-${startTime(pid)}-${String(made)}`;
}

let made = 0;
const namespace = pidNamespace();

async function removeStale(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const [, space, pid, start] = /^parlance-(\w+)-(\d+)-(\w+)-\d+$/.exec(name) ?? [];
    if (space === undefined) continue;
    const path = join(root, name);
    const dead = space === namespace ? startTime(Number(pid)) !== start : await isOld(path);
    // Errors are ignored, because permission may be missing in a directory that several users share.
    if (dead) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Processes of other containers are not visible, so a directory counts as stale after a day without changes. */
async function isOld(path: string): Promise<boolean> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > dayMs,
    () => false,
  );
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 'host';
  } catch {
    return 'host'; // without /proc, this is not Linux, so no containers share the directory
  }
}

/**
 * Returns the start time in clock ticks since boot (proc(5), field 22). Without /proc, the result only shows whether
 * the process is running.
 */
function startTime(pid: number): string {
  try {
    const fields = readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
      .split(') ')
      .at(-1)
      ?.split(' ');
    return fields?.[19] ?? 'gone';
  } catch {
    if (process.platform === 'linux') return 'gone';
    return isRunning(pid) ? 'running' : 'gone';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}
