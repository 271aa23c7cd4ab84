/** A systemd booted in systemd-nspawn: this machine's own files below an overlay in memory, and its network. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tiedToUs } from '../support/child-service.ts';
import { run } from '../support/programs.ts';
import { childrenOf } from './processes.ts';

export interface Booted extends AsyncDisposable {
  /** PID of its process 1, outside of its namespace. */
  readonly pid: number;
  /** Runs a program in there, and resolves with what it wrote to stdout. */
  run(program: string, ...args: string[]): Promise<string>;
}

const bootingMs = 60_000;

/** `mounts`: directories and files of this machine by where they are to be seen, read-only. */
export async function boot(mounts: Readonly<Record<string, string>>): Promise<Booted> {
  const root = await mkdtemp(join(tmpdir(), 'parlance-root-'));
  const binds = Object.entries(mounts).map(([there, here]) => `--bind-ro=${here}:${there}`);
  const name = `parlance-test-${process.pid}`;
  const groups = ['', 'systemd', 'unified'].map((hierarchy) => join('/sys/fs/cgroup', hierarchy, name));
  // nspawn refuses / itself, hence the bind mount. It ends with the namespace, and so does what nspawn keeps in /run.
  const script = `
    for group in ${groups.join(' ')}; do
      if [ -e "\${group%/*}/cgroup.procs" ]; then mkdir "$group" && echo 0 >"$group/cgroup.procs"; fi
    done
    mount --bind / "$0" && mkdir -p /run/systemd/nspawn && mount -t tmpfs none /run/systemd/nspawn &&
    exec systemd-nspawn --quiet --boot --directory="$0" --volatile=overlay --register=no --keep-unit --console=pipe \\
      --machine=${name} "$@" systemd.unit=basic.target`;
  // nspawn's process 1 outlives nspawn, but not a namespace of processes around both.
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const [unshare, ...args] = tiedToUs('unshare', ...namespaces, 'sh', '-c', script, root, ...binds);
  const nspawn = spawn(unshare, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(nspawn, 'exit');
  let said = '';
  for (const stream of [nspawn.stdout, nspawn.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const end = async () => {
    // unshare waits for the namespace's process 1, which waits for all others.
    const [first] = childrenOf(nspawn.pid!);
    if (first) process.kill(first.pid, 'SIGKILL');
    else nspawn.kill('SIGKILL'); // does nothing when it has ended
    await exit;
    await rmdir(root);
    while (!groups.every(isRemoved)) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const enter = (pid: number, ...command: string[]) => ['nsenter', ['--target', String(pid), '--all', ...command]] as const; // prettier-ignore

  const deadline = performance.now() + bootingMs;
  for (;;) {
    const pid = childrenOf(nspawn.pid!).find(isFirst)?.pid;
    if (pid !== undefined && isActive(...enter(pid, 'systemctl', 'is-active', 'basic.target'))) {
      return { pid, run: (...command) => run(...enter(pid, ...command)), [Symbol.asyncDispose]: end };
    }
    if (nspawn.exitCode !== null || performance.now() > deadline) {
      await end();
      throw new Error(`systemd does not boot: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** False while a process of the control group is still being cleared away. */
function isRemoved(group: string): boolean {
  return !existsSync(group) || spawnSync('find', [group, '-depth', '-type', 'd', '-delete']).status === 0;
}

/** Process 1 of nspawn's namespace of processes, which is in ours (proc(5), NSpid). */
function isFirst({ pid }: { readonly pid: number }): boolean {
  try {
    return /^NSpid:\t\d+\t\d+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false; // it has ended meanwhile
  }
}

function isActive(program: string, args: readonly string[]): boolean {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() === 'active';
  } catch {
    return false; // not yet
  }
}
