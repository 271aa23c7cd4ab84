/**
 * The directory of this process for everything temporary. It goes when the process ends; what a killed process left
 * is swept by the next start.
 */
import { mkdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TemporaryDirectory } from '../../engines/contract.ts';

const dayMs = 86_400_000;

export interface Workspace {
  readonly path: string;
  /** A private directory (0700) that its caller disposes of. */
  directory(purpose: string): Promise<TemporaryDirectory>;
  [Symbol.dispose](): void;
}

/** Makes the directory below `root` and sweeps those of dead processes. */
export async function createWorkspace(root: string): Promise<Workspace> {
  mkdirSync(root, { recursive: true });
  await sweep(root);
  const path = join(root, nameOf(process.pid));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.on('exit', remove);
  let disposed = false;
  return {
    path,
    async directory(purpose) {
      // After a day without work a sweep in another container may have taken it for a dead one's.
      if (!disposed) await mkdir(path, { recursive: true, mode: 0o700 });
      const own = await mkdtemp(join(path, `${purpose}-`));
      return { path: own, [Symbol.asyncDispose]: () => rm(own, { recursive: true, force: true, maxRetries: 2 }) };
    },
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
