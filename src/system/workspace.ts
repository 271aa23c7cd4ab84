/**
 * The directory of this process for everything temporary. It goes when the process ends; what a killed process left
 * is swept by the next start.
 */
import { mkdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemporaryDirectory } from '../../engines/contract/index.ts';
import { DiskBudget, spaceOf, type AccountOptions, type DiskAccount } from './disk-budget.ts';

const dayMs = 86_400_000;

/** A directory whose files count. Disposing of it removes them and then releases their bytes. */
export interface AccountedDirectory extends TemporaryDirectory {
  readonly account: DiskAccount;
}

export interface Workspace {
  readonly path: string;
  readonly disk: DiskBudget;
  /** A private directory (0700) that its caller disposes of. */
  directory(purpose: string): Promise<TemporaryDirectory>;
  /** The same with an account of the disk budget. Throws `storage-full`. */
  accountedDirectory(purpose: string, options?: AccountOptions): Promise<AccountedDirectory>;
  /** The account of the directory that a file lies in; undefined where there is none. */
  readonly accountOf: (file: string) => DiskAccount | undefined;
  [Symbol.dispose](): void;
}

/** Makes the directory below `root` and sweeps those of dead processes. */
export async function createWorkspace(root: string, diskBytes?: number): Promise<Workspace> {
  mkdirSync(root, { recursive: true });
  await sweep(root);
  const path = join(root, nameOf(process.pid));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.on('exit', remove);
  let disposed = false;
  const disk = new DiskBudget({ bytes: diskBytes, space: () => spaceOf(root) });
  const accounts = new Map<string, DiskAccount>();
  const directory = async (purpose: string): Promise<TemporaryDirectory> => {
    // After a day without work a sweep in another container may have taken it for a dead one's.
    if (!disposed) await mkdir(path, { recursive: true, mode: 0o700 });
    const own = await mkdtemp(join(path, `${purpose}-`));
    return { path: own, [Symbol.asyncDispose]: () => rm(own, { recursive: true, force: true, maxRetries: 2 }) };
  };
  return {
    path,
    disk,
    directory,
    async accountedDirectory(purpose, options) {
      const account = disk.open(options);
      const made = await directory(purpose);
      accounts.set(made.path, account);
      return {
        path: made.path,
        account,
        async [Symbol.asyncDispose]() {
          accounts.delete(made.path);
          try {
            await made[Symbol.asyncDispose]();
          } finally {
            account[Symbol.dispose]();
          }
        },
      };
    },
    accountOf: (file) => accounts.get(dirname(file)),
    [Symbol.dispose]() {
      disposed = true;
      process.off('exit', remove);
      remove();
    },
  };
}

/** A reused pid has another start time, and another container another namespace. */
function nameOf(pid: number): string {
  made += 1;
  return `parlance-${namespace}-${String(pid)}-${startTime(pid)}-${String(made)}`;
}

let made = 0;
const namespace = pidNamespace();

async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const [, space, pid, start] = /^parlance-(\w+)-(\d+)-(\w+)-\d+$/.exec(name) ?? [];
    if (space === undefined) continue;
    const path = join(root, name);
    const dead = space === namespace ? startTime(Number(pid)) !== start : await isOld(path);
    // In a directory that users share, another's is not ours to remove.
    if (dead) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The processes of another container cannot be looked up: a day without a change tells. */
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
    return 'host'; // no /proc: not Linux, so no containers that share the directory
  }
}

/** In clock ticks since the machine's start (proc(5), field 22); where there is no /proc, whether it runs at all. */
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
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
