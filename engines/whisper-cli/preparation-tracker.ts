/** Runs preparations (build, downloads) and reports their progress for the availability probe. */
import type { EngineContext, PrepareCall } from '../contract/index.ts';
import { modelSource, type ModelName } from './catalogue.ts';
import { prepareWhisper } from './prepare.ts';

export interface PreparationPlan {
  readonly needProgram: boolean;
  readonly models: readonly ModelName[];
  readonly mirror: string | undefined;
}

export interface PreparationState {
  /** Such as "building whisper-cli: 42 %". */
  readonly description: string;
  /** From 0 to 1, all steps alike; undefined while the size of the work is unknown. */
  readonly progress: number | undefined;
}

export interface PreparationTracker {
  /** Undefined when idle. */
  readonly state: PreparationState | undefined;
  /** Why the last preparation failed. */
  readonly failure: string | undefined;
  run(plan: PreparationPlan, call: PrepareCall): Promise<void>;
}

export function createPreparationTracker(context: EngineContext): PreparationTracker {
  /** How much of each step is done; null: unknown. */
  const steps = new Map<string, number | null>();
  /** Number of steps of the current plan; 0 when idle. */
  let planned = 0;
  let failure: string | undefined;

  function describe(): string {
    const words = [...steps].flatMap(([step, done]) =>
      done === 1 ? [] : done === null ? step : `${step}: ${String(Math.floor(done * 100))} %`,
    );
    return words.join(', ') || 'starting';
  }

  function progress(): number | undefined {
    const known = [...steps.values()].filter((done) => done !== null);
    return known.length === 0 ? undefined : known.reduce((sum, done) => sum + done, 0) / planned;
  }

  async function prepareAll({ needProgram, models, mirror }: PreparationPlan, { signal, progress }: PrepareCall) {
    const { dataDir, env, cores, run, fetch, log } = context;
    const report = (step: string, fraction: number | null) => {
      steps.set(step, fraction);
      progress(step, fraction);
    };
    const common = { dataDir, env, cores, run, fetch, log, signal, mirror: mirror ?? modelSource, progress: report };
    const [first = null, ...others] = models;
    await prepareWhisper({ ...common, needProgram, model: first });
    for (const model of others) await prepareWhisper({ ...common, needProgram: false, model });
  }

  return {
    get state() {
      return planned > 0 ? { description: describe(), progress: progress() } : undefined;
    },
    get failure() {
      return failure;
    },
    async run(plan, call) {
      planned = Number(plan.needProgram) + plan.models.length;
      failure = undefined;
      try {
        await prepareAll(plan, call);
      } catch (error) {
        failure = (error as Error).message;
        throw error;
      } finally {
        planned = 0;
        steps.clear();
      }
    },
  };
}
