/** What an engine holds: programs that it has started, and what keeps this process busy. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterMs } from './patience.ts';

/** As Node.js calls what an engine may hold while it works. */
const names: Readonly<Record<string, string>> = {
  ProcessWrap: 'a child process',
  TCPSocketWrap: 'a connection',
  TLSWrap: 'a connection',
  TCPServerWrap: 'a server',
};

/** Each as often as it is there. */
export async function held(programs: () => Promise<readonly string[]>): Promise<string[]> {
  const lines = await programs();
  const resources = process.getActiveResourcesInfo().flatMap((kind) => names[kind] ?? []);
  return [...resources, ...lines.map((line) => `the program "${line}"`)];
}

/** What there is more of than before, once so much time has passed; "" as soon as there is nothing. */
export async function leftAfter(
  ms: number,
  before: readonly string[],
  programs: () => Promise<readonly string[]>,
): Promise<string> {
  const time = { isOver: false };
  using _clock = afterMs(ms, () => (time.isOver = true));
  for (;;) {
    const isLast = time.isOver;
    const left = moreThan(before, await held(programs));
    if (left.length === 0 || isLast) return left.join(', ');
    await sleep(10);
  }
}

function moreThan(before: readonly string[], now: readonly string[]): string[] {
  const known = [...before];
  const more = now.filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
  return [...new Set(more)];
}

/**
 * The command lines of the processes that have this in their environment: of all that were started with it, whoever
 * is their parent by now. Linux alone tells; elsewhere there are none.
 */
export async function programsWith(variable: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      if (Number(pid) === process.pid) return [];
      // Of another user's, or of one that has just ended, nothing is told.
      const [environment, line] = await Promise.all([read(`/proc/${pid}/environ`), read(`/proc/${pid}/cmdline`)]);
      return environment.split('\0').includes(variable) ? [line.replaceAll('\0', ' ').trim()] : [];
    }),
  );
  return lines.flat();
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
