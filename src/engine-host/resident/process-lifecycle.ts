/** The lifecycle of one process of a resident program: the process waits for memory, loads, serves calls, and ends. */
import { EngineError, type ResidentCall, type ResidentProgram } from '../../../engines/contract/index.ts';
import { linkedSignal, raceAbort, startTimer } from '../../../lib/abort.ts';
import { isLocked, lockOf, tryLock } from '../../../lib/file-lock.ts';
import { ignore } from '../../../lib/errors.ts';
import { startHost, type Crash, type HostProcess } from './host-process.ts';
import type { MemoryPlan, MemoryUser } from './memory-plan.ts';

export interface LifecycleEvents {
  readonly onLoad: (ms: number) => void;
  /**
   * Called once the memory of the process has been freed. `crash` is set if the process ended although it was still
   * needed.
   */
  readonly onEnd: (crash: Crash | undefined) => void;
}

const pollMs = 500;

export class ProcessLifecycle implements MemoryUser {
  readonly #program: ResidentProgram;
  readonly #plan: MemoryPlan;
  readonly #events: LifecycleEvents;
  readonly #stop = linkedSignal();
  readonly #loaded: Promise<HostProcess>;
  #state: 'waiting' | 'loading' | 'loaded' = 'waiting';
  #host: HostProcess | undefined;
  /** Number of calls that are being served or are waiting. */
  #calls = 0;
  #idleSince = performance.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #isRetired = false;
  #hasCrashed = false;
  /** True if the process was loaded and idle, and has not answered since. */
  #isSilent = false;
  readonly #uses: Disposable[] = [];
  #bytes: number;

  /** `bytes` is the best estimate of the memory that the program needs. */
  constructor(program: ResidentProgram, bytes: number, plan: MemoryPlan, events: LifecycleEvents) {
    this.#program = program;
    this.#bytes = bytes;
    this.#plan = plan;
    this.#events = events;
    this.#loaded = this.#load();
    this.#loaded.catch(ignore); // a preload has no caller to receive the error
  }

  get name(): string {
    return this.#program.name;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True if the process has ended or is about to end. */
  get isOver(): boolean {
    return this.#stop.signal.aborted || (this.#host?.isEnding ?? false);
  }

  /**
   * True if the process ended while idle, for example killed by the kernel to free memory, or ended at its first call
   * after being idle. The two cannot be distinguished.
   */
  get hasEndedIdle(): boolean {
    return this.#hasCrashed && this.#isSilent;
  }

  /** True if the process accepts no further calls. */
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
      this.#bytes = this.#plan.asSeen(host.peakBytes ?? this.#bytes); // only a call shows how much memory it needs
      return done;
    } finally {
      if (!this.#hasCrashed) this.#isSilent = false;
      this.#calls -= 1;
      if (this.isIdle) this.#becomeIdle();
      this.#plan.update();
    }
  }

  /** Serves its current calls, then unloads. */
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
      this.#stop.signal.throwIfAborted(); // the process may have been stopped since it was admitted
      await this.#useFiles();
      this.#stop.signal.throwIfAborted();
      this.#host = startHost(this.#program, (crash) => this.#end(crash));
      return this.#host;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Stops waiting for memory if no call needs the program anymore. A program that is loading is not stopped. */
  #becomeIdle(): void {
    this.#idleSince = performance.now();
    if (this.#state === 'waiting' || this.#isRetired) this.unload();
    const { idleUnloadMs } = this.#program;
    if (this.isLoaded && !this.isOver && idleUnloadMs > 0) {
      this.#idleTimer = startTimer(() => this.unload(), idleUnloadMs).unref();
    }
  }

  /**
   * Locks the model files against removal while the program uses them. When a removal waits for the lock, unloads the
   * program after its current calls.
   */
  async #useFiles(): Promise<void> {
    const locks = (this.#program.files ?? []).map(lockOf);
    for (const path of locks) {
      const lock = await tryLock(path, 'shared').catch(() => unlockable);
      if (!lock) throw new EngineError('model-unavailable', 'The model is being removed.');
      this.#uses.push(lock);
    }
    if (locks.length === 0) return;
    const timer = setInterval(() => locks.some(isLocked) && this.retire(), pollMs).unref();
    this.#uses.push({ [Symbol.dispose]: () => clearInterval(timer) });
  }

  #end(crash?: Crash): void {
    this.#hasCrashed = crash !== undefined;
    this.unload();
    for (const use of this.#uses.splice(0)) use[Symbol.dispose]();
    this.#plan.leave(this);
    this.#events.onEnd(crash);
  }
}

/** If the directory is not writable or the file system has no locks, no process can remove the model either. */
const unlockable: Disposable = { [Symbol.dispose]: () => undefined };
