/** Who may keep how much in memory: one plan for all resident programs. */
import { EngineError } from '../../../engines/contract/index.ts';
import { onAbort, reasonOf } from '../../../lib/abort.ts';

export interface MemoryBudget {
  readonly bytes: number;
  /** The operator wrote it: what can never fit is refused. Otherwise it runs alone. */
  readonly isStrict: boolean;
}

/** A program that holds memory, or asks for it. */
export interface Tenant {
  readonly name: string;
  /** What it needs. */
  readonly bytes: number;
  /** When it served its last call, in monotonic milliseconds; undefined: it may not be unloaded now. */
  readonly idleSince: number | undefined;
  /** Process id; undefined until the process has started. */
  readonly pid: number | undefined;
  /** It calls `leave` once its memory is free. */
  unload(): void;
}

interface Waiter {
  readonly tenant: Tenant;
  readonly admit: () => void;
}

export type MemoryPlan = ReturnType<typeof createMemoryPlan>;

export function createMemoryPlan(budget: MemoryBudget) {
  /** Those that hold memory: they load, are loaded or are ending. */
  const holders = new Set<Tenant>();
  /** First come, first served. */
  const waiting: Waiter[] = [];

  /** Those of them that have been told to end. */
  const leaving = new Set<Tenant>();
  let isClosed = false;

  const staying = () => [...holders].filter((holder) => !leaving.has(holder));
  const fits = (bytes: number, others: readonly Tenant[]) => others.length === 0 || sum(others) + bytes <= budget.bytes;

  function update(): void {
    for (let [first] = waiting; first && fits(first.tenant.bytes, [...holders]); [first] = waiting) {
      waiting.shift();
      holders.add(first.tenant);
      first.admit();
    }
    unloadIdle(waiting[0]?.tenant);
  }

  /** For the first of those who wait, or because programs have grown. */
  function unloadIdle(next: Tenant | undefined): void {
    for (;;) {
      const loaded = staying();
      const isEnough = next ? fits(next.bytes, loaded) : loaded.length < 2 || sum(loaded) <= budget.bytes;
      const isUseful = !next || fits(next.bytes, loaded.filter(isBusy)); // else nobody makes enough room yet
      const victim = isEnough || !isUseful ? undefined : longestIdle(loaded);
      if (!victim) return;
      leaving.add(victim);
      victim.unload();
    }
  }

  function refuseOversize({ name, bytes }: Tenant): void {
    if (!budget.isStrict || bytes <= budget.bytes) return;
    const sizes = `needs ${mebibytes(bytes)} of memory; MEMORY_BUDGET is ${mebibytes(budget.bytes)}`;
    throw new EngineError('model-unavailable', `The model ${name} ${sizes}.`);
  }

  return {
    budget,
    /** Whether so many bytes can be had without waiting for anybody that is at work. */
    hasRoomFor(bytes: number): boolean {
      if (waiting.length > 0 || (budget.isStrict && bytes > budget.bytes)) return false;
      return fits(bytes, staying().filter(isBusy));
    },
    /** What a program counts as that was seen to use so much: it has run, and may run again. */
    asSeen: (bytes: number): number => (budget.isStrict ? Math.min(bytes, budget.bytes) : bytes),
    processes: (): readonly number[] => [...holders].flatMap(({ pid }) => pid ?? []),
    /** Resolves once the memory is the tenant's, until it leaves. Those that have been idle longest are unloaded for it. */
    async enter(tenant: Tenant, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (isClosed) throw new EngineError('model-unavailable', 'The service is stopping.');
      refuseOversize(tenant);
      await new Promise<void>((resolve, reject) => {
        const off = onAbort(signal, () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(reasonOf(signal));
          update();
        });
        const waiter = { tenant, admit: () => (off(), resolve()) };
        waiting.push(waiter);
        update();
      });
    },
    leave(tenant: Tenant): void {
      holders.delete(tenant);
      leaving.delete(tenant);
      update();
    },
    /** After a tenant has become idle, or its need has changed. */
    update,
    /** All of them end, and nobody enters any more. */
    close(): void {
      isClosed = true;
      for (const tenant of [...holders, ...waiting.map((waiter) => waiter.tenant)]) tenant.unload();
    },
  };
}

function sum(tenants: readonly Tenant[]): number {
  return tenants.reduce((bytes, tenant) => bytes + tenant.bytes, 0);
}

const isBusy = ({ idleSince }: Tenant): boolean => idleSince === undefined;

function longestIdle(tenants: readonly Tenant[]): Tenant | undefined {
  const idle = tenants.filter(({ idleSince }) => idleSince !== undefined);
  return idle.sort((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0))[0];
}

export const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;
