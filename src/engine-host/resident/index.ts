/** The resident programs of all engines, which share one memory plan. */
import {
  EngineError,
  type Logger,
  type Resident,
  type ResidentCall,
  type ResidentProgram,
} from '../../../engines/contract/index.ts';
import type { Crash } from './host-process.ts';
import { ProcessLifecycle } from './process-lifecycle.ts';
import { createMemoryPlan, type MemoryBudget, type MemoryPlan } from './memory-plan.ts';
import type { ResidentState } from '../../metrics/metrics.ts';

export type Residents = ReturnType<typeof createResidents>;

interface OpenedResident {
  readonly instance: string;
  readonly program: ResidentProgram;
  readonly resident: ManagedResident;
}

export function createResidents(budget: MemoryBudget) {
  const plan = createMemoryPlan(budget);
  const opened = new Map<string, OpenedResident>();

  return {
    budget,
    /**
     * Returns the existing resident if the program is the same. A different program with the same name replaces the
     * earlier one, which is unloaded once idle. Throws a `TypeError` for invalid numbers.
     */
    open(instance: string, program: ResidentProgram, log: Logger): ManagedResident {
      checkNumbers(program);
      const key = JSON.stringify([instance, program.name]);
      const known = opened.get(key);
      if (known && JSON.stringify(known.program) === JSON.stringify(program)) return known.resident;
      known?.resident.retire();
      const resident = new ManagedResident(program, plan, log);
      opened.set(key, { instance, program, resident });
      return resident;
    },
    /** Returns the states of all programs. */
    facts: (): readonly ResidentState[] =>
      [...opened.values()].map(({ instance, resident }) => ({ engine: instance, ...resident.facts })),
    /** Returns the process ids of all programs. */
    processes: () => plan.processes(),
    /** Ends all programs; their calls fail. */
    [Symbol.dispose]: () => plan.close(),
  };
}

function checkNumbers({ name, memory, idleUnloadMs }: ResidentProgram): void {
  if (memory >= 0 && Number.isFinite(memory) && idleUnloadMs >= 0) return;
  const range = 'memory must be a number of bytes, and idleUnloadMs not negative';
  throw new TypeError(`The resident program ${name}: ${range}.`);
}

/** After `crashes` crashes within `ms`, restarts pause for `ms`. */
const crashLimit = { crashes: 3, ms: 60_000 };

class ManagedResident implements Resident {
  readonly #program: ResidentProgram;
  readonly #plan: MemoryPlan;
  readonly #log: Logger;
  readonly #counts = { loads: 0, loadSeconds: 0, crashes: 0 };
  #lifecycle: ProcessLifecycle | undefined;
  /** Memory that the program needs in bytes: as declared, later as measured. */
  #bytes: number;
  #crashTimes: readonly number[] = [];
  /** The last time that the program exited during loading. */
  #brokenAt = -Infinity;

  constructor(program: ResidentProgram, plan: MemoryPlan, log: Logger) {
    this.#program = program;
    this.#plan = plan;
    this.#log = log;
    this.#bytes = program.memory;
  }

  get state(): Resident['state'] {
    const lifecycle = this.#current();
    if (!lifecycle) return 'unloaded';
    return lifecycle.isLoaded ? 'loaded' : 'loading';
  }

  get isFree(): boolean {
    if (this.#pausedMs() > 0) return false;
    return this.#current()?.isIdle ?? this.#plan.hasRoomFor(this.#bytes);
  }

  /** True for a minute after the program exited during loading, unless it was killed. */
  get isBroken(): boolean {
    return performance.now() - this.#brokenAt < crashLimit.ms;
  }

  get facts(): Omit<ResidentState, 'engine'> {
    const lifecycle = this.#current();
    const isLoaded = lifecycle?.isLoaded ?? false;
    return { name: this.#program.name, isLoaded, bytes: isLoaded && lifecycle ? lifecycle.bytes : 0, ...this.#counts };
  }

  preload(): void {
    if (!this.#current() && this.isFree) this.#begin();
  }

  async call(question: Readonly<Record<string, unknown>>, call: ResidentCall): Promise<unknown> {
    call.signal.throwIfAborted();
    this.#refusePaused();
    const lifecycle = this.#current() ?? this.#begin();
    try {
      return await lifecycle.call(question, call);
    } catch (error) {
      if (!lifecycle.hasEndedIdle || call.signal.aborted) throw error;
    }
    this.#refusePaused();
    return await (this.#current() ?? this.#begin()).call(question, call);
  }

  /** Unloads the program once it is idle, because another program replaces it. */
  retire(): void {
    this.#current()?.retire();
  }

  #current(): ProcessLifecycle | undefined {
    return this.#lifecycle?.isOver || this.#lifecycle?.isRetired ? undefined : this.#lifecycle;
  }

  #begin(): ProcessLifecycle {
    const lifecycle = new ProcessLifecycle(this.#program, this.#bytes, this.#plan, {
      onLoad: (ms) => this.#loaded(ms),
      onEnd: (crash) => {
        this.#bytes = lifecycle.bytes;
        if (crash) this.#crashed(crash);
        if (crash && !crash.isKilled && !lifecycle.isLoaded) this.#brokenAt = performance.now();
      },
    });
    this.#lifecycle = lifecycle;
    return lifecycle;
  }

  #loaded(ms: number): void {
    this.#brokenAt = -Infinity;
    this.#counts.loads += 1;
    this.#counts.loadSeconds += ms / 1000;
    this.#log.info({ program: this.#program.name, ms: Math.round(ms) }, 'the model is loaded');
  }

  #crashed({ failure, lastLine: output }: Crash): void {
    this.#counts.crashes += 1;
    this.#crashTimes = [...this.#crashTimes, performance.now()].slice(-crashLimit.crashes);
    this.#log.error({ err: failure, program: this.#program.name, output }, 'a loaded model has crashed');
  }

  /** Returns the milliseconds until the program may be restarted. */
  #pausedMs(): number {
    const [first, last] = [this.#crashTimes[0], this.#crashTimes.at(-1)];
    if (this.#crashTimes.length < crashLimit.crashes || first === undefined || last === undefined) return 0;
    return last - first > crashLimit.ms ? 0 : Math.max(0, last + crashLimit.ms - performance.now());
  }

  #refusePaused(): void {
    const ms = this.#pausedMs();
    if (ms === 0) return;
    const message = 'The model has crashed three times within a minute; try again in a minute.';
    throw new EngineError('model-unavailable', message, { retryAfter: Math.ceil(ms / 1000) });
  }
}
