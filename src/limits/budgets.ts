/** What each key has used today (UTC), charged after the fact. */
import type { Used } from '../caller.ts';

export type Total = Readonly<Required<Used>>;

export interface Budgets {
  /** Of today. */
  readonly used: (name: string) => Total;
  /** Adds to today. */
  readonly charge: (name: string, used: Used) => void;
  /** When today ends, in milliseconds since 1970. */
  readonly endsAt: number;
}

/** The counters of a day. */
export interface DayUsage {
  /** Such as 2026-11-22. */
  readonly day: string;
  readonly keys: ReadonlyMap<string, Total>;
}

export interface StorableBudgets extends Budgets {
  /** How often a counter has changed. */
  readonly changes: number;
  readonly usage: () => DayUsage;
}

const dayMs = 86_400_000;
const nothing: Total = { audioMs: 0, tokens: 0 };

/** Continues stored counters if their day is still today. */
export function createBudgets(stored?: DayUsage, now: () => number = Date.now): StorableBudgets {
  let day = dayOf(now());
  let changes = 0;
  const keys = new Map(stored?.day === day ? stored.keys : []);

  function startDay(): void {
    const today = dayOf(now());
    if (today === day) return;
    day = today;
    keys.clear();
  }

  function used(name: string): Total {
    startDay();
    return keys.get(name) ?? nothing;
  }

  return {
    used,
    charge(name, { audioMs = 0, tokens = 0 }) {
      const before = used(name);
      const after = { audioMs: before.audioMs + Math.round(audioMs), tokens: before.tokens + Math.round(tokens) };
      if (after.audioMs === before.audioMs && after.tokens === before.tokens) return;
      keys.set(name, after);
      changes += 1;
    },
    get endsAt() {
      return (Math.floor(now() / dayMs) + 1) * dayMs;
    },
    get changes() {
      return changes;
    },
    usage: () => ({ day, keys }),
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
