/** Counts the usage of each key today (UTC). Usage is charged after the work is done. */
import type { Used } from '../request-scope.ts';

export type Total = Readonly<Required<Used>>;

export interface Budgets {
  /** Returns the usage of a key today (UTC). */
  readonly used: (name: string) => Total;
  /** Adds to the usage of a key today. */
  readonly charge: (name: string, used: Used) => void;
  /** Present if several processes share the counters. Resolves once `used` includes the charges of other processes. */
  readonly refresh?: (name: string) => Promise<void>;
  /** End of the current day, in milliseconds since 1970. */
  readonly endsAt: number;
}

/** The counters of a day. */
export interface DayUsage {
  /** Date, such as 2026-11-22. */
  readonly day: string;
  readonly keys: ReadonlyMap<string, Total>;
}

const dayMs = 86_400_000;
const noUsage: Total = { audioMs: 0, tokens: 0 };

/** The budgets of this process. */
export type OwnBudgets = ReturnType<typeof createBudgets>;

/** Continues the stored counters if they are from today. */
export function createBudgets(stored?: DayUsage, now: () => number = Date.now) {
  let endsAt = endOfDay(now());
  let changes = 0;
  const keys = new Map(stored?.day === dayBefore(endsAt) ? stored.keys : []);

  function startDay(): void {
    const time = now();
    if (time < endsAt) return;
    endsAt = endOfDay(time);
    keys.clear();
  }

  function used(name: string): Total {
    startDay();
    return keys.get(name) ?? noUsage;
  }

  function set(name: string, previous: Total, after: Total): void {
    if (after.audioMs === previous.audioMs && after.tokens === previous.tokens) return;
    keys.set(name, { audioMs: capped(after.audioMs), tokens: capped(after.tokens) });
    changes += 1;
  }

  return {
    used,
    charge: (name: string, { audioMs = 0, tokens = 0 }: Used) => {
      const previous = used(name);
      set(name, previous, {
        audioMs: previous.audioMs + Math.round(audioMs),
        tokens: previous.tokens + Math.round(tokens),
      });
    },
    /** Raises the counters to a total from another process, if it is larger. */
    raise(name: string, { audioMs, tokens }: Total) {
      const previous = used(name);
      set(name, previous, { audioMs: Math.max(previous.audioMs, audioMs), tokens: Math.max(previous.tokens, tokens) });
    },
    get endsAt() {
      startDay();
      return endsAt;
    },
    /** The number of counter changes so far. */
    get changes() {
      return changes;
    },
    usage: (): DayUsage => ({ day: dayBefore(endsAt), keys }),
  };
}

/** Caps amounts reported by engines, or by Redis in a fleet, because neither is trusted. */
function capped(amount: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, amount));
}

function endOfDay(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}

/** Returns the date of the day that ends at `ms`. */
function dayBefore(ms: number): string {
  return new Date(ms - dayMs).toISOString().slice(0, 10);
}
