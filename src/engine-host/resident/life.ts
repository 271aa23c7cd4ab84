/** One life of a resident program: it waits for memory, loads, serves calls, and ends. */
import { EngineError, type ResidentCall, type ResidentProgram } from '../../../engines/contract/index.ts';
import { linkedSignal, raceAbort, startTimer } from '../../../lib/abort.ts';
import { isLocked, lockOf, tryLock } from '../../../lib/file-lock.ts';
import { ignore } from '../../../lib/ignore.ts';
import { startHost, type Crash, type HostProcess } from './host-process.ts';
import type { MemoryPlan, Tenant } from './memory-plan.ts';

export interface LifeEvents {
  readonly onLoad: (ms: number) => void;
  /** Its memory is free. `crash`: it ended by itself. */
  readonly onEnd: (crash: Crash | undefined) => void;
}

const lookEveryMs = 500;

export class Life implements Tenant {
  readonly #program: ResidentProgram;
  readonly #plan: MemoryPlan;
  readonly #events: LifeEvents;
  readonly #stop = linkedSignal();
  readonly #loaded: Promise<HostProcess>;
  #state: 'waiting' | 'loading' | 'loaded' = 'waiting';
  #host: HostProcess | undefined;
  /** Calls that it serves, or that wait for it. */
  #calls = 0;
  #idleSince = performance.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #isRetired = false;
  #hasCrashed = false;
  /** Whether it was loaded and idle, and has answered nobody since. */
  #isSilent = false;
  readonly #uses = new DisposableStack();
  #bytes: number;

  /** `bytes` is what it needs as far as is known. */
  constructor(program: ResidentProgram, bytes: number, plan: MemoryPlan, events: LifeEvents) {
    this.#program = program;
    this.#bytes = bytes;
    this.#plan = plan;
    this.#events = events;
    this.#loaded = this.#load();
    this.#loaded.catch(ignore); // it may be loaded for nobody
  }

  get name(): string {
    return this.#program.name;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** It has ended, or has been told to. */
  get isOver(): boolean {
    return this.#stop.signal.aborted || (this.#host?.isEnding ?? false);
  }

  /** It was killed while it was idle, such as for its memory, or by the first call after that: nobody can tell. */
  get hasEndedIdle(): boolean {
    return this.#hasCrashed && this.#isSilent;
  }

  /** It gets no further calls. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  get isLoaded(): boolean {
    return this.#state === 'loaded';
  }

  get isIdle(): boolean {
    return this.#calls === 0;
  }

  get pid(): number | undefined {
    return this.#host?.pid;
  }

  get idleSince(): number | undefined {
    return this.isLoaded && this.isIdle ? this.#idleSince : undefined;
  }

  async call(question: Readonly<Record<string, unknown>>, call: ResidentCall): Promise<unknown> {
    clearTimeout(this.#idleTimer);
    if (this.isIdle) this.#isSilent = this.isLoaded;
    this.#calls += 1;
    try {
      const host = await raceAbort(this.#loaded, call.signal);
      const onMessage: ResidentCall['onMessage'] = (message) => {
        this.#isSilent = false;
        call.onMessage?.(message);
      };
      const done = await host.call(question, { signal: call.signal, onMessage });
      this.#bytes = this.#plan.asSeen(host.peakBytes ?? this.#bytes); // only a call shows what it needs
      return done;
    } finally {
      if (!this.#hasCrashed) this.#isSilent = false;
      this.#calls -= 1;
      if (this.isIdle) this.#becomeIdle();
      this.#plan.update();
    }
  }

  /** It serves the calls that it has, and is unloaded. */
  retire(): void {
    this.#isRetired = true;
    if (this.isIdle) this.unload();
  }

  unload(): void {
    clearTimeout(this.#idleTimer);
    this.#stop.abort(new EngineError('model-unavailable', 'The model has been unloaded; try again.'));
    this.#host?.end();
  }

  async #load(): Promise<HostProcess> {
    await this.#enter();
    this.#state = 'loading';
    const since = performance.now();
    const host = await this.#start();
    await host.ready;
    this.#state = 'loaded';
    this.#events.onLoad(performance.now() - since);
    if (this.isIdle) this.#becomeIdle();
    this.#plan.update();
    return host;
  }

  async #enter(): Promise<void> {
    try {
      await this.#plan.enter(this, this.#stop.signal);
    } catch (error) {
      this.unload();
      throw error;
    }
  }

  async #start(): Promise<HostProcess> {
    try {
      this.#stop.signal.throwIfAborted(); // since it was admitted
      await this.#useFiles();
      this.#stop.signal.throwIfAborted();
      this.#host = startHost(this.#program, (crash) => this.#end(crash));
      return this.#host;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Who waits for memory stops when nobody waits for it any more; a program that loads is finished. */
  #becomeIdle(): void {
    this.#idleSince = performance.now();
    if (this.#state === 'waiting' || this.#isRetired) this.unload();
    const { idleUnloadMs } = this.#program;
    if (this.isLoaded && !this.isOver && idleUnloadMs > 0) {
      this.#idleTimer = startTimer(() => this.unload(), idleUnloadMs).unref();
    }
  }

  /** Nobody removes its files while it has them; it is unloaded once somebody wants to. */
  async #useFiles(): Promise<void> {
    const locks = (this.#program.files ?? []).map(lockOf);
    for (const path of locks) {
      const lock = await tryLock(path, 'shared').catch(() => unlockable);
      if (!lock) throw new EngineError('model-unavailable', 'The model is being removed.');
      this.#uses.use(lock);
    }
    if (locks.length === 0) return;
    const timer = setInterval(() => locks.some(isLocked) && this.retire(), lookEveryMs).unref();
    this.#uses.defer(() => clearInterval(timer));
  }

  #end(crash?: Crash): void {
    this.#hasCrashed = crash !== undefined;
    this.unload();
    this.#uses.dispose();
    this.#plan.leave(this);
    this.#events.onEnd(crash);
  }
}

/** Where nothing can be written, or the file system has no locks, nobody can remove the model either. */
const unlockable: Disposable = { [Symbol.dispose]: () => undefined };
