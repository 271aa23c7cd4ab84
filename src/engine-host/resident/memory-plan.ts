/** Divides the memory budget among all resident programs. */
import { EngineError } from '../../../engines/contract/index.ts';
import { onAbort, reasonOf } from '../../../lib/abort.ts';
import { megabytes } from '../../../lib/megabytes.ts';

export interface MemoryBudget {
  readonly bytes: number;
  /**
   * True if the operator has set the budget: a program that needs more is rejected. If false, such a program runs
   * alone.
   */
  readonly isStrict: boolean;
}

/** A program that uses memory or is waiting for it. */
export interface MemoryUser {
  readonly name: string;
  /** Bytes that the program needs. */
  readonly bytes: number;
  /** When the program became idle, in monotonic milliseconds; undefined if it must not be unloaded now. */
  readonly idleSince: number | undefined;
  /** Process id; undefined until the process has started. */
  readonly pid: number | undefined;
  /** Ends the program. The program calls `leave` once its memory is free. */
  unload(): void;
}

interface Waiter {
  readonly user: MemoryUser;
  readonly admit: () => void;
}

export type MemoryPlan = ReturnType<typeof createMemoryPlan>;

export function createMemoryPlan(budget: MemoryBudget) {
  /** Users that hold memory: they are loading, loaded or ending. */
  const holders = new Set<MemoryUser>();
  /** Users waiting for memory, first in, first out. */
  const waiting: Waiter[] = [];

  /** Holders that are being unloaded. */
  const leaving = new Set<MemoryUser>();
  let isClosed = false;

  const staying = () => [...holders].filter((holder) => !leaving.has(holder));
  const fits = (bytes: number, others: readonly MemoryUser[]) =>
    others.length === 0 || sum(others) + bytes <= budget.bytes;

  function update(): void {
    for (let [first] = waiting; first && fits(first.user.bytes, [...holders]); [first] = waiting) {
      waiting.shift();
      holders.add(first.user);
      first.admit();
    }
    unloadIdle(waiting[0]?.user);
  }

  /** Unloads idle users to make room for the first waiter, or because programs have grown. */
  function unloadIdle(next: MemoryUser | undefined): void {
    for (;;) {
      const loaded = staying();
      const isEnough = next ? fits(next.bytes, loaded) : loaded.length < 2 || sum(loaded) <= budget.bytes;
      const isUseful = !next || fits(next.bytes, loaded.filter(isBusy)); // otherwise, unloading all idle users would not suffice
      const victim = isEnough || !isUseful ? undefined : longestIdle(loaded);
      if (!victim) return;
      leaving.add(victim);
      victim.unload();
    }
  }

  function refuseOversize({ name, bytes }: MemoryUser): void {
    if (!budget.isStrict || bytes <= budget.bytes) return;
    const sizes = `needs ${megabytes(bytes)} of memory; MEMORY_BUDGET is ${megabytes(budget.bytes)}`;
    throw new EngineError('model-unavailable', `The model ${name} ${sizes}.`);
  }

  return {
    budget,
    /** Returns whether that much memory is available without waiting for a busy program. */
    hasRoomFor(bytes: number): boolean {
      if (waiting.length > 0 || (budget.isStrict && bytes > budget.bytes)) return false;
      return fits(bytes, staying().filter(isBusy));
    },
    /**
     * Returns the bytes to plan for a program with a measured peak. Because it has already run, it is never rejected as
     * too large.
     */
    asSeen: (bytes: number): number => (budget.isStrict ? Math.min(bytes, budget.bytes) : bytes),
    processes: (): readonly number[] => [...holders].flatMap(({ pid }) => pid ?? []),
    /**
     * Resolves once the user has its memory, which it holds until `leave`. Unloads the programs that have been idle
     * longest.
     */
    async enter(user: MemoryUser, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (isClosed) throw new EngineError('model-unavailable', 'The service is stopping.');
      refuseOversize(user);
      await new Promise<void>((resolve, reject) => {
        const off = onAbort(signal, () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(reasonOf(signal));
          update();
        });
        const waiter = { user, admit: () => (off(), resolve()) };
        waiting.push(waiter);
        update();
      });
    },
    leave(user: MemoryUser): void {
      holders.delete(user);
      leaving.delete(user);
      update();
    },
    /** Call this after a user has become idle or its memory need has changed. */
    update,
    /** Ends all programs; later calls of `enter` reject. */
    close(): void {
      isClosed = true;
      for (const user of [...holders, ...waiting.map((waiter) => waiter.user)]) user.unload();
    },
  };
}

function sum(users: readonly MemoryUser[]): number {
  return users.reduce((bytes, user) => bytes + user.bytes, 0);
}

const isBusy = ({ idleSince }: MemoryUser): boolean => idleSince === undefined;

function longestIdle(users: readonly MemoryUser[]): MemoryUser | undefined {
  const idle = users.filter(({ idleSince }) => idleSince !== undefined);
  return idle.sort((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0))[0];
}
