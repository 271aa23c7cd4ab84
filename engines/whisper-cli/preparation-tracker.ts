/** Runs preparations (build, downloads) and reports their progress for the availability probe. */
import type { EngineContext, PrepareCall } from '../contract/index.ts';
import { prepareWhisper, type Done, type Interrupted, type PreparationPlan } from './prepare.ts';

export interface PreparationState {
  /** Such as "building whisper-cli: 42 %". */
  readonly description: string;
  /** From 0 to 1, all steps alike; undefined while the size of the work is unknown. */
  readonly progress: number | undefined;
}

export function createPreparationTracker(context: EngineContext) {
  const steps = new Map<string, Done>();
  const failures = new Map<string, string>();
  /** Number of steps of the current plan, without those that failed; 0 when idle. */
  let planned = 0;

  function describe(): string {
    const words = [...steps].flatMap(([step, done]) => (done === 1 ? [] : nameOf(step, done)));
    return words.join(', ') || 'starting';
  }

  function nameOf(step: string, done: Done): string {
    if (done === 'waiting') return waitingFor(step);
    if (typeof done === 'object' && done !== null) return pausing(step, done);
    return done === null ? step : `${step}: ${String(Math.floor(done * 100))} %`;
  }

  function progress(): number | undefined {
    const known = [...steps.values()].filter((done) => typeof done === 'number');
    return known.length === 0 ? undefined : known.reduce((sum, done) => sum + done, 0) / planned;
  }

  return {
    /** Undefined when idle. */
    get state(): PreparationState | undefined {
      return planned > 0 ? { description: describe(), progress: progress() } : undefined;
    },
    /** Why a step of the current preparation, or else of the last one, failed. */
    failureOf: (step: string): string | undefined => failures.get(step),
    /** It counts from the call on, while the plan is made: a probe right after it says `preparing`. */
    async run(makePlan: () => Promise<PreparationPlan>, { signal, progress }: PrepareCall): Promise<void> {
      planned = 1;
      failures.clear();
      try {
        const plan = await makePlan();
        planned = Math.min(1, plan.programs.length) + plan.models.length;
        if (planned === 0) return;
        await prepareWhisper({
          ...{ ...context, ...plan, signal },
          progress(step, done) {
            steps.set(step, done);
            if (done === 'waiting') progress(waitingFor(step), null);
            else if (typeof done === 'object' && done !== null) progress(pausing(step, done), null);
            else progress(step, done);
          },
          failed(step, why) {
            steps.delete(step);
            failures.set(step, why);
            planned -= 1;
          },
        });
      } finally {
        planned = 0;
        steps.clear();
      }
    },
  };
}

const pausing = (step: string, { interrupted }: Interrupted) => `${step}, interrupted: ${interrupted}; trying again`;
const waitingFor = (step: string) => `another process is ${step}`;
