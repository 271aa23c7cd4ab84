/** The installations of assets by this process: at most one per asset, which several groups may share. */
import type { Asset } from '../../../engines/contract/index.ts';
import { linkedSignal, raceAbort } from '../../../lib/abort.ts';
import { ignore, messageOf } from '../../../lib/errors.ts';
import type { Declarations } from './declarations.ts';
import { doingOf, install, type InstallStep } from './install.ts';

export interface InstallEvents {
  readonly signal: AbortSignal;
  /** Called once all missing assets are being installed or are queued, and their states are `preparing`. */
  readonly onBegun?: (() => void) | undefined;
  readonly onStep?: (asset: string, step: InstallStep) => void;
  readonly onDone?: (asset: string) => void;
  /** Called immediately, while other installations continue. */
  readonly onFailure?: (asset: string, error: Error) => void;
}

/** An installation of an asset by this process. */
interface Work {
  readonly asset: Asset;
  /** Ids of the groups that requested the asset. */
  readonly groups: Set<string>;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  step: InstallStep;
}

/** The result of the last attempt, unless it succeeded. */
type InstallOutcome = { readonly failure: string } | { readonly isStopped: true };

export class Installations {
  readonly #declarations: Declarations;
  readonly #onChanged: (asset: Asset) => Promise<void>;
  readonly #work = new Map<string, Work>();
  readonly #outcomes = new Map<string, InstallOutcome>();

  /** `onChanged` is called after an asset has been installed and before its installation counts as ended. */
  constructor(declarations: Declarations, onChanged: (asset: Asset) => Promise<void>) {
    this.#declarations = declarations;
    this.#onChanged = onChanged;
  }

  get running(): readonly Asset[] {
    return Array.from(this.#work.values(), ({ asset }) => asset);
  }

  /** Returns the current step of an installation; undefined if the asset is not being installed. */
  stepOf(id: string): InstallStep | undefined {
    return this.#work.get(id)?.step;
  }

  outcomeOf(id: string): InstallOutcome | undefined {
    return this.#outcomes.get(id);
  }

  /**
   * Installs the assets, or waits for their installations: one after the other, with model files concurrent to all others.
   * Resolves with the failures; rejects with the signal's reason.
   */
  async run(
    missing: readonly Asset[],
    groupsOf: (asset: Asset) => readonly string[],
    events: InstallEvents,
  ): Promise<Error[]> {
    const failures: Error[] = [];
    const lanes = [missing.filter(({ kind }) => kind === 'files'), missing.filter(({ kind }) => kind !== 'files')];
    const works = lanes.flatMap((lane) => {
      let before: Promise<unknown> = Promise.resolve();
      return lane.map((asset) => {
        const work = this.#work.get(asset.id) ?? this.#begin(asset, before, events);
        for (const group of groupsOf(asset)) work.groups.add(group);
        const { done } = work;
        before = done.catch(ignore);
        return done.catch((error: unknown) => {
          if (events.signal.aborted) return;
          failures.push(error as Error);
          events.onFailure?.(asset.id, error as Error);
        });
      });
    });
    events.onBegun?.();
    await Promise.all(works);
    events.signal.throwIfAborted();
    return failures;
  }

  /** Stops the installations that only this group needs. Resolves when they have ended. */
  async stop(id: string): Promise<void> {
    const works = [...this.#work.values()].filter(({ groups }) => groups.delete(id) && groups.size === 0);
    for (const { stop } of works) stop.abort(new Error('the installation was stopped'));
    await Promise.allSettled(works.map(({ done }) => done));
  }

  #begin(asset: Asset, before: Promise<unknown>, { signal, onStep, onDone }: InstallEvents): Work {
    const stop = new AbortController();
    const work: Work = {
      ...{ asset, groups: new Set<string>(), stop, step: { doing: doingOf(asset), done: null } },
      done: (async () => {
        using link = linkedSignal(signal, stop.signal);
        try {
          await raceAbort(before, link.signal);
          const step = (step: InstallStep) => {
            work.step = step;
            onStep?.(asset.id, step);
          };
          const recheck = () => this.#declarations.recheck(asset);
          await install(asset, this.#declarations.contextOf(asset), { signal: link.signal, onStep: step, recheck });
          await this.#onChanged(asset);
          onDone?.(asset.id);
        } catch (error) {
          if (stop.signal.aborted) this.#outcomes.set(asset.id, { isStopped: true });
          else if (!signal.aborted) this.#outcomes.set(asset.id, { failure: messageOf(error) });
          if (!stop.signal.aborted) throw error;
        } finally {
          this.#work.delete(asset.id);
        }
      })(),
    };
    work.done.catch(ignore); // the waiting callers receive the error
    this.#outcomes.delete(asset.id);
    this.#work.set(asset.id, work);
    return work;
  }
}
