/** Logs nodes whose clocks differ by more than signatures allow, once per outage, with both times. */
import type { Logger } from '../../engines/contract/index.ts';

export type Clocks = ReturnType<typeof createClocks>;

export function createClocks(log: Logger) {
  const differing = new Set<string>();
  return {
    differs(peer: string, theirMs: number) {
      if (differing.has(peer)) return;
      differing.add(peer);
      const [theirs, ours] = [theirMs, Date.now()].map((ms) => new Date(ms).toISOString());
      log.warn({ peer, theirs, ours }, 'the clock of another node of the fleet differs; fix: synchronize both (NTP)');
    },
    agrees: (peer: string) => void differing.delete(peer),
  };
}
