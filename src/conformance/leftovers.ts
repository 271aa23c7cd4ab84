/** Resources held by an engine: programs that it has started, and active handles in this process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterMs } from '../../lib/process-timer.ts';

/** Descriptions of resources, by the names that Node.js gives them. */
const names: Readonly<Record<string, string>> = {
  ProcessWrap: 'a child process',
  TCPSocketWrap: 'a connection',
  TLSWrap: 'a connection',
  TCPServerWrap: 'a server',
};

/** Returns one entry per resource, including duplicates. Resources of resident programs do not count. */
export function held(programs: () => readonly string[], residents: () => readonly string[] = () => []): string[] {
  const resources = process.getActiveResourcesInfo().flatMap((kind) => names[kind] ?? []);
  const staying = residents().flatMap((line) => [nameOf(line), 'a child process']);
  return moreThan(staying, [...resources, ...programs().map(nameOf)]);
}

const nameOf = (commandLine: string): string => `the program "${commandLine}"`;

/**
 * Waits up to `ms` milliseconds for new resources (those not in `before`) to disappear. Resolves with the remaining
 * ones; "" as soon as none remain.
 */
export async function leftAfter(
  ms: number,
  before: readonly string[],
  heldNow: () => readonly string[],
): Promise<string> {
  const time = { isOver: false };
  using _clock = afterMs(ms, () => (time.isOver = true));
  // Polls at increasing intervals, because each poll reads the environment of every process.
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 80)) {
    const isLast = time.isOver;
    const left = [...new Set(moreThan(before, heldNow()))];
    if (left.length === 0 || isLast) return left.join(', ');
    await sleep(pauseMs);
  }
}

function moreThan(before: readonly string[], now: readonly string[]): string[] {
  const known = [...before];
  return now.filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
