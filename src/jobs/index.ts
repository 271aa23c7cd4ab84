/** Creates the job store of the service. */
import { join } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { createQueue } from '../engine-host/scheduling/call-queue.ts';
import { findFfmpeg } from '../engine-host/context.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { ProblemError } from '../contract/problems.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Limits } from '../limits/limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { liveScope, runInScope } from '../request-scope.ts';
import type { Environment, LoadedSettings } from '../settings/load.ts';
import type { Workspace } from '../system/workspace.ts';
import type { Job } from './job.ts';
import { JobStore } from './store.ts';
import { workOn } from './work.ts';

export interface JobOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly registry: Registry;
  readonly workspace: Workspace;
  /** Undefined in open mode. */
  readonly keys: Pick<KeyRing, 'named'> | undefined;
  readonly limits: Limits | undefined;
  readonly retryMs: readonly number[];
  readonly ownerMs: number;
  readonly metrics?: Metrics | undefined;
  readonly idPrefix?: string | undefined;
  readonly log: Logger;
}

/** Call `open()` to resume jobs from before a restart. */
export function createJobs(options: JobOptions): JobStore {
  const { settings, env, registry, workspace, keys, limits, metrics, log } = options;
  const decoding = createQueue({ slots: 1, waiting: 1_000 }, () => performance.now());
  const shared = {
    ...{ registry, workspace, transcribeTimeout: settings.transcribeTimeout, decoding, metrics, log },
    ffmpeg: findFfmpeg(settings, env),
    maxSeconds: settings.transcribeJobMaxSeconds,
    partSeconds: settings.transcribeMaxSeconds,
    retryMs: options.retryMs,
  };
  const work = (job: Job, signal: AbortSignal) => {
    const { requestId, caller, key: name } = job.record;
    const currentKey = () => (name === null ? undefined : keys?.named(name));
    const requireBudget = async () => {
      const key = currentKey();
      if (name !== null && !key) throw keyRemoved();
      if (key) await limits?.requireBudget(key, 'audio');
    };
    const scope = { id: requestId, caller, usage: {}, via: [] };
    const live = liveScope(scope, currentKey, (key) => limits?.chargeFor(key, 'audio'));
    return runInScope(live, () => workOn({ ...shared, job, signal, requireBudget }));
  };
  return new JobStore({
    directory: join(settings.dataDir, 'jobs'),
    off: disabledReason(settings),
    disk: workspace.disk,
    keepMs: settings.transcribeJobKeep * 1000,
    maxBytes: settings.transcribeJobMaxMb * 1_048_576,
    ownerMs: options.ownerMs,
    idPrefix: options.idPrefix,
    work,
    log,
  });
}

/** Returns the reason if jobs are disabled. */
function disabledReason({ transcribeJobs, transcribeEnabled }: LoadedSettings): string | undefined {
  if (!transcribeEnabled) return 'Transcription is switched off (TRANSCRIBE_ENABLED=false).';
  if (!transcribeJobs) return 'Transcription jobs are switched off (TRANSCRIBE_JOBS=off).';
  return undefined;
}

/**
 * Returns the problem for jobs whose key was removed. A job from open mode continues after the service gets keys,
 * although no key can read it: it was accepted, and the operator may return to open mode.
 */
function keyRemoved(): ProblemError {
  return new ProblemError('unauthorized', 'The API key of the transcription no longer exists.');
}
