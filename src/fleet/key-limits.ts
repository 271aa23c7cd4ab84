/**
 * The limits of API keys across all fronts, counted in Redis. While Redis is unavailable, each front counts its own
 * requests, and allows its share (at least 1) of the limits per minute and of concurrent requests; daily budgets are
 * not divided.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../engines/contract/index.ts';
import type { OwnBudgets, Total } from '../limits/budgets.ts';
import type { Counters } from '../limits/limits.ts';
import type { MinuteCounter } from '../limits/minutes.ts';
import type { ConcurrencySlots } from '../limits/concurrency.ts';
import { createCircuit, type Circuit } from './circuit.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { KeyCounters } from './redis-counters.ts';
import { pseudonymOf } from './ticket.ts';

/** The counters of this front. */
export interface OwnCounters {
  readonly minutes: MinuteCounter;
  readonly budgets: OwnBudgets;
}

export interface KeyLimitsOptions {
  readonly own: OwnCounters;
  readonly counters: KeyCounters;
  /** Returns the number of fronts that share the limits. */
  readonly fronts: () => number;
  readonly secret: string;
  readonly timeouts: Pick<FleetTimeouts, 'announceMs' | 'announcedMs' | 'reconcileMs'>;
  readonly log: Logger;
}

export type SharedCounters = Counters & Disposable;

interface Shared {
  readonly counters: KeyCounters;
  readonly circuit: Circuit;
  /** Pseudonym of the key in Redis. */
  readonly nameOf: (key: string) => string;
  /** This front's share of a limit while Redis is unavailable. */
  readonly partOf: (limit: number) => number;
}

export function shareKeyLimits({ own, counters, fronts, secret, ...options }: KeyLimitsOptions): SharedCounters {
  const onBack = () => {
    budgets.settle();
    concurrency.keep();
  };
  const circuit = createCircuit({ ...options, probe: () => counters.probe(), onBack });
  const shared: Shared = {
    counters,
    circuit,
    nameOf: (key) => pseudonymOf(secret, key),
    partOf: (limit) => Math.max(1, Math.floor(limit / fronts())),
  };
  const budgets = shareBudgets(own.budgets, shared);
  const concurrency = shareSlots(shared, options.timeouts);
  return {
    minutes: shareMinutes(own.minutes, shared),
    concurrency,
    budgets,
    [Symbol.dispose]() {
      concurrency[Symbol.dispose]();
      circuit[Symbol.dispose]();
    },
  };
}

function shareMinutes(own: MinuteCounter, { counters, circuit, nameOf, partOf }: Shared): MinuteCounter {
  return {
    async count(key, most) {
      const here = await own.count(key, most); // used as the fallback while Redis is unavailable
      const all = await circuit.ask(() => counters.countRequest(nameOf(key)));
      if (all) return { used: all.used, endsAt: Date.now() + all.endsInMs };
      return { used: here.used + most - partOf(most), endsAt: here.endsAt };
    },
  };
}

interface KeySlots {
  /** Ids of the slots of this front's requests. */
  readonly ids: string[];
  /** Slots of the key across all fronts, as last reported by Redis. */
  used: number;
}

/** Slots of a front that dies are released when they expire. */
function shareSlots(
  { counters, circuit, nameOf, partOf }: Shared,
  { announceMs, announcedMs }: Pick<FleetTimeouts, 'announceMs' | 'announcedMs'>,
): ConcurrencySlots & Disposable & { keep(): void } {
  const concurrency = new Map<string, KeySlots>();
  const slotsOf = (key: string) => {
    const found = concurrency.get(key) ?? { ids: [], used: 0 };
    concurrency.set(key, found); // bounded by the number of keys
    return found;
  };

  /** Renews the slots of this front in Redis, including those taken while Redis was unavailable. */
  function keep(): void {
    for (const [key, { ids }] of concurrency)
      if (ids.length > 0) note(key, () => counters.keepSlots(nameOf(key), ids, announcedMs));
  }
  const timer = setInterval(keep, announceMs);

  function note(key: string, command: () => Promise<number>): void {
    void circuit.ask(command).then((used) => {
      if (used !== undefined) slotsOf(key).used = used;
    });
  }

  return {
    async take(key, most) {
      const id = randomBytes(12).toString('base64url');
      const all = await circuit.ask(() => counters.takeSlot(nameOf(key), id, most, announcedMs));
      const ofKey = slotsOf(key);
      if (all) ofKey.used = all.used;
      const isFree = all?.taken ?? ofKey.ids.length < partOf(most);
      if (isFree) ofKey.ids.push(id);
      return isFree;
    },
    release(key) {
      const id = slotsOf(key).ids.pop(); // slots are interchangeable
      if (id !== undefined) note(key, () => counters.releaseSlot(nameOf(key), id));
    },
    used(key, most) {
      const { ids, used } = slotsOf(key);
      return circuit.isAway ? ids.length + most - partOf(most) : used;
    },
    keep,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

interface Unsettled extends Total {
  readonly day: string;
}

/** Unconfirmed charges are sent with the next one: a charge whose confirmation is lost may count twice. */
function shareBudgets(own: OwnBudgets, { counters, circuit, nameOf }: Shared) {
  const unsettled = new Map<string, Unsettled>();
  const today = () => new Date(own.endsAt - 1).toISOString().slice(0, 10);

  function owed(key: string, day: string): Total {
    const found = unsettled.get(key);
    return found?.day === day ? found : { audioMs: 0, tokens: 0 };
  }

  function owe(key: string, day: string, { audioMs, tokens }: Total): void {
    const before = owed(key, day);
    unsettled.set(key, { day, audioMs: before.audioMs + audioMs, tokens: before.tokens + tokens });
  }

  async function settle(key: string): Promise<void> {
    const day = today();
    const added = owed(key, day);
    unsettled.delete(key);
    const total = await circuit.ask(() => counters.charge(nameOf(key), day, added, own.used(key)));
    if (day !== today()) return;
    if (total) own.raise(key, total);
    else owe(key, day, added);
  }

  return {
    used: own.used,
    charge(key, used) {
      const before = own.used(key);
      own.charge(key, used);
      const after = own.used(key);
      owe(key, today(), { audioMs: after.audioMs - before.audioMs, tokens: after.tokens - before.tokens });
      void settle(key);
    },
    refresh: settle,
    get endsAt() {
      return own.endsAt;
    },
    /** Sends all charges that were made while Redis was unavailable. */
    settle: () => void [...unsettled.keys()].map(settle),
  } satisfies Counters['budgets'] & { settle(): void };
}
