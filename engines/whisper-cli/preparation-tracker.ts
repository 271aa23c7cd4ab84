/** Runs preparations (build, downloads) and reports their progress for the availability probe. */
import type { EngineContext, PrepareCall } from '../contract/index.ts';
import { modelSource, type ModelName } from './catalogue.ts';
import { prepareWhisper } from './prepare.ts';

export interface PreparationPlan {
  readonly needProgram: boolean;
  readonly models: readonly ModelName[];
  readonly mirror: string | undefined;
}

export interface PreparationTracker {
  /** Such as "building whisper-cli: 42 %"; undefined when idle. */
  readonly progress: string | undefined;
  /** Why the last preparation failed. */
  readonly failure: string | undefined;
  run(plan: PreparationPlan, call: PrepareCall): Promise<void>;
}

export function createPreparationTracker(context: EngineContext): PreparationTracker {
  const steps = new Map<string, number | null>();
  let running = false;
  let failure: string | undefined;

  function describe(): string {
    const words = [...steps].map(([step, done]) =>
      done === null ? step : `${step}: ${String(Math.floor(done * 100))} %`,
    );
    return words.join(', ') || 'starting';
  }

  async function prepareAll({ needProgram, models, mirror }: PreparationPlan, { signal, progress }: PrepareCall) {
    const { dataDir, env, cores, run, fetch, log } = context;
    const report = (step: string, fraction: number | null) => {
      if (fraction === 1) steps.delete(step);
      else steps.set(step, fraction);
      progress(step, fraction);
    };
    const common = { dataDir, env, cores, run, fetch, log, signal, mirror: mirror ?? modelSource, progress: report };
    const [first = null, ...others] = models;
    await prepareWhisper({ ...common, needProgram, model: first });
    for (const model of others) await prepareWhisper({ ...common, needProgram: false, model });
  }

  return {
    get progress() {
      return running ? describe() : undefined;
    },
    get failure() {
      return failure;
    },
    async run(plan, call) {
      running = true;
      failure = undefined;
      try {
        await prepareAll(plan, call);
      } catch (error) {
        failure = (error as Error).message;
        throw error;
      } finally {
        running = false;
        steps.clear();
      }
    },
  };
}
