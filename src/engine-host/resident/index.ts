/** The resident programs of all engines, on one memory plan. */
import {
  EngineError,
  type Logger,
  type Resident,
  type ResidentCall,
  type ResidentProgram,
} from '../../../engines/contract/index.ts';
import type { Crash } from './host-process.ts';
import { Life } from './life.ts';
import { createMemoryPlan, type MemoryBudget, type MemoryPlan } from './memory-plan.ts';
import type { ResidentState } from '../../metrics/metrics.ts';

export type Residents = ReturnType<typeof createResidents>;

interface Kept {
  readonly instance: string;
  readonly program: ResidentProgram;
  readonly resident: ManagedResident;
}

export function createResidents(budget: MemoryBudget) {
  const plan = createMemoryPlan(budget);
  const kept = new Map<string, Kept>();

  return {
    budget,
    /**
     * The same one for the same program. Another one of the same name replaces it: that is unloaded once it is idle. Throws
     * a `TypeError` for numbers that are none.
     */
    open(instance: string, program: ResidentProgram, log: Logger): Resident {
      checkNumbers(program);
      const key = JSON.stringify([instance, program.name]);
      const known = kept.get(key);
      if (known && JSON.stringify(known.program) === JSON.stringify(program)) return known.resident;
      known?.resident.retire();
      const resident = new ManagedResident(program, plan, log);
      kept.set(key, { instance, program, resident });
      return resident;
    },
    /** Those of each engine. */
    facts: (): readonly ResidentState[] =>
      [...kept.values()].map(({ instance, resident }) => ({ engine: instance, ...resident.facts })),
    /** Process ids. */
    processes: () => plan.processes(),
    /** Calls that they serve fail. */
    [Symbol.dispose]: () => plan.close(),
  };
}

function checkNumbers({ name, memory, idleUnloadMs }: ResidentProgram): void {
  if (memory >= 0 && Number.isFinite(memory) && idleUnloadMs >= 0) return;
  const range = 'memory must be a number of bytes, and idleUnloadMs not negative';
  throw new TypeError(`The resident program ${name}: ${range}.`);
}

/** So many crashes within so long stop it for as long. */
const crashLimit = { crashes: 3, ms: 60_000 };

class ManagedResident implements Resident {
  readonly #program: ResidentProgram;
  readonly #plan: MemoryPlan;
  readonly #log: Logger;
  readonly #counts = { loads: 0, loadSeconds: 0, crashes: 0 };
  #life: Life | undefined;
  /** What it needs, as last seen. */
  #bytes: number;
  #crashTimes: readonly number[] = [];

  constructor(program: ResidentProgram, plan: MemoryPlan, log: Logger) {
    this.#program = program;
    this.#plan = plan;
    this.#log = log;
    this.#bytes = program.memory;
  }

  get state(): Resident['state'] {
    const life = this.#current();
    if (!life) return 'unloaded';
    return life.isLoaded ? 'loaded' : 'loading';
  }

  get isFree(): boolean {
    if (this.#pausedMs() > 0) return false;
    return this.#current()?.isIdle ?? this.#plan.hasRoomFor(this.#bytes);
  }

  get facts(): Omit<ResidentState, 'engine'> {
    const life = this.#current();
    const isLoaded = life?.isLoaded ?? false;
    return { name: this.#program.name, isLoaded, bytes: isLoaded && life ? life.bytes : 0, ...this.#counts };
  }

  preload(): void {
    if (!this.#current() && this.isFree) this.#begin();
  }

  async call(question: Readonly<Record<string, unknown>>, call: ResidentCall): Promise<unknown> {
    call.signal.throwIfAborted();
    this.#refusePaused();
    const life = this.#current() ?? this.#begin();
    try {
      return await life.call(question, call);
    } catch (error) {
      if (!life.hasEndedIdle || call.signal.aborted) throw error;
    }
    this.#refusePaused();
    return await (this.#current() ?? this.#begin()).call(question, call);
  }

  /** Another program takes its name: it is unloaded once it is idle. */
  retire(): void {
    this.#current()?.retire();
  }

  #current(): Life | undefined {
    return this.#life?.isOver || this.#life?.isRetired ? undefined : this.#life;
  }

  #begin(): Life {
    const life = new Life(this.#program, this.#bytes, this.#plan, {
      onLoad: (ms) => this.#loaded(ms),
      onEnd: (crash) => {
        this.#bytes = life.bytes;
        if (crash) this.#crashed(crash);
      },
    });
    this.#life = life;
    return life;
  }

  #loaded(ms: number): void {
    this.#counts.loads += 1;
    this.#counts.loadSeconds += ms / 1000;
    this.#log.info({ program: this.#program.name, ms: Math.round(ms) }, 'the model is loaded');
  }

  #crashed({ failure, lastLine: output }: Crash): void {
    this.#counts.crashes += 1;
    this.#crashTimes = [...this.#crashTimes, performance.now()].slice(-crashLimit.crashes);
    this.#log.error({ err: failure, program: this.#program.name, output }, 'a loaded model has crashed');
  }

  /** How long it is not started again. */
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
