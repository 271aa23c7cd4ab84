/** An engine as requests see it on a front: it is listed here, and workers do its work. */
import type { Availability, Finding, TranscriptionEngine } from '../../engines/contract/index.ts';
import { guardTranscribe } from '../engine-host/guard/calls.ts';
import { defaultTimeouts } from '../engine-host/guard/timeouts.ts';
import type { Admissions } from './admission.ts';
import type { Front } from './front.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';

export interface RemoteEngineOptions {
  readonly front: Pick<Front, 'transcribe'>;
  readonly nodes: Pick<Nodes, 'capacityOf' | 'absentMs' | 'all'>;
  readonly limits: Pick<FleetTimeouts, 'absentMs'>;
  readonly admissions: Pick<Admissions, 'isFull'>;
  /** This node works too: what it lacks is prepared here. */
  readonly alsoHere: boolean;
}

const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const full: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
const waits: Availability = {
  available: true,
  code: 'busy',
  reason: 'No worker takes transcriptions now; requests wait for one.',
};
const absent: Availability = {
  ...{ available: false, code: 'upstream-unreachable' },
  reason: 'No worker of the fleet serves this model.',
};

/** `engine` only answers for its models, and is otherwise used by the worker of this node. */
export function wrapAsRemote(
  instance: string,
  engine: TranscriptionEngine,
  { front, nodes, admissions, limits, alsoHere }: RemoteEngineOptions,
): TranscriptionEngine {
  async function availability(model: string): Promise<Availability> {
    if (nodes.capacityOf(instance).slots > 0) return admissions.isFull(instance) ? full : ready;
    const here = alsoHere ? await engine.availability(model) : ready;
    if (!here.available) return here; // what is being prepared, or missing
    return nodes.absentMs(instance) < limits.absentMs ? waits : absent;
  }

  function workers(): Finding[] {
    const found = [...nodes.all()].flatMap(([id, { instances }]) => {
      const slots = instances[instance]?.slots;
      return slots === undefined ? [] : [{ what: 'worker', ok: true, detail: `${id}, ${slots} slots` }];
    });
    return found.length > 0 ? found : [{ what: 'worker', ok: false, detail: 'none is there for this instance' }];
  }

  const { decodes: _there, ...listed } = engine; // a worker on another machine gets a file
  const guarded = { instance, abortMs: defaultTimeouts.abortMs };
  const moved: TranscriptionEngine = {
    ...listed,
    availability,
    // Answers of workers are validated like those of engines.
    transcribe: guardTranscribe({ transcribe: (call, options) => front.transcribe(instance, call, options) }, guarded),
    inspect: async () => [...workers(), ...(alsoHere ? ((await engine.inspect?.()) ?? []) : [])],
  };
  // For a recording, nothing: a worker gets it, perhaps another one. At the start (no model is named) for our own worker.
  moved.warmUp = async (model) => {
    if (alsoHere && model === undefined) await engine.warmUp?.();
  };
  if (!alsoHere) {
    delete (moved as { assets?: unknown }).assets; // workers have them
  }
  return moved;
}

/** FLEET_ENGINES, else every instance whose models are all local. */
export async function runsOnWorkers(
  instance: string,
  engine: TranscriptionEngine,
  named: readonly string[] | undefined,
): Promise<boolean> {
  if (named !== undefined) return named.includes(instance);
  const models = await engine.models();
  return models.length > 0 && models.every(({ local }) => local);
}
