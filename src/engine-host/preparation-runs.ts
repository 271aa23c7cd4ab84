/** The preparations that this process is at work on, by id, and how those that are over have ended. */
import type { PrepareCall } from '../../engines/contract/index.ts';
import { linkedSignal } from '../../lib/abort.ts';
import { messageOf } from '../../lib/errors.ts';

/** A step of it, and how much of that step is done; null if not known. */
export interface Step {
  readonly name: string;
  readonly done: number | null;
}

type Work = (call: Pick<PrepareCall, 'signal' | 'progress'>) => Promise<void>;

interface Run {
  /** Engines that share an id are one run. */
  readonly works: Set<Promise<void>>;
  readonly stop: AbortController;
  step: Step;
}

export type Outcome = { readonly failure: string } | { readonly isStopped: true };

class Stopped extends Error {}

export class PreparationRuns {
  readonly #running = new Map<string, Run>();
  readonly #outcomes = new Map<string, Outcome>();

  /** Rejects as `work` does, or with the signal's reason; resolves if the run is stopped. */
  async run(id: string, { signal, progress }: Pick<PrepareCall, 'signal' | 'progress'>, work: Work): Promise<void> {
    await this.#stopped(id);
    const run = this.#running.get(id) ?? { works: new Set(), stop: new AbortController(), step: starting };
    this.#running.set(id, run);
    const linked = linkedSignal(signal, run.stop.signal);
    const call = {
      signal: linked.signal,
      progress: (name: string, done: number | null) => {
        run.step = { name, done };
        progress(name, done);
      },
    };
    if (run.works.size === 0) this.#outcomes.delete(id);
    const working = work(call);
    run.works.add(working);
    try {
      await working;
    } catch (error) {
      if (run.stop.signal.aborted) this.#outcomes.set(id, { isStopped: true });
      else if (!signal.aborted) this.#outcomes.set(id, { failure: messageOf(error) });
      if (!run.stop.signal.aborted) throw error;
    } finally {
      linked.end(new Error('the preparation is over'));
      run.works.delete(working);
      if (run.works.size === 0) this.#running.delete(id);
    }
  }

  /** Undefined while nobody is at it here. */
  stepOf(id: string): Step | undefined {
    return this.#running.get(id)?.step;
  }

  /** How the last run has ended; undefined if it has not failed. */
  outcomeOf(id: string): Outcome | undefined {
    return this.#outcomes.get(id);
  }

  /** Resolves when its engines have ended their work. */
  async stop(id: string): Promise<void> {
    const run = this.#running.get(id);
    if (!run) return;
    run.stop.abort(new Stopped('the preparation was stopped'));
    await this.#stopped(id);
  }

  /** Resolves when nobody is at work on a run that was stopped. */
  async #stopped(id: string): Promise<void> {
    const run = this.#running.get(id);
    if (run?.stop.signal.aborted) await Promise.allSettled(run.works);
  }
}

const starting: Step = { name: 'starting', done: null };
