/** An engine on a front: its models are listed locally, and workers run its calls. */
import type { Availability, Finding, ModelEntry, TranscriptionEngine } from '../../engines/contract/index.ts';
import { guardTranscribe } from '../engine-host/guard/calls.ts';
import { defaultTimeouts } from '../engine-host/guard/timeouts.ts';
import type { Instance } from '../engine-host/models/instance.ts';
import type { RemoteEngine } from '../engine-host/registry/open-instance.ts';
import type { Admissions } from './admission.ts';
import type { Front } from './front.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';

export interface RemoteEngineOptions {
  readonly front: Pick<Front, 'transcribe'>;
  readonly nodes: Pick<Nodes, 'capacityOf' | 'absentMs' | 'all'>;
  readonly timeouts: Pick<FleetTimeouts, 'absentMs'>;
  readonly admissions: Pick<Admissions, 'isFull'>;
  /** Whether this node is also a worker, which installs the engine's assets on this machine. */
  readonly alsoHere: boolean;
}

const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const full: Availability = { available: true, code: 'busy', reason: 'All slots are in use; try again in a moment.' };
const waits: Availability = {
  available: true,
  code: 'busy',
  reason: 'No worker is accepting transcriptions; requests wait for one.',
};
const absent: Availability = {
  ...{ available: false, code: 'upstream-unreachable' },
  reason: 'No worker of the fleet serves this model.',
};

/** `own` only lists the models; its engine runs calls only if this node is also a worker. */
export function wrapAsRemote(
  own: Instance<'transcription'>,
  { front, nodes, admissions, timeouts, alsoHere }: RemoteEngineOptions,
): RemoteEngine {
  const { name: instance, engine } = own;

  function availabilityOf(entry: ModelEntry): Availability {
    if (nodes.capacityOf(instance).slots > 0) return admissions.isFull(instance) ? full : ready;
    const here = alsoHere ? own.availabilityOf(entry) : ready;
    if (!here.available) return here; // assets are missing or being installed
    return nodes.absentMs(instance) < timeouts.absentMs ? waits : absent;
  }

  function workers(): Finding[] {
    const found = [...nodes.all()].flatMap(([id, { instances }]) => {
      const slots = instances[instance]?.slots;
      return slots === undefined ? [] : [{ what: 'worker', ok: true, detail: `${id}, ${slots} slots` }];
    });
    return found.length > 0 ? found : [{ what: 'worker', ok: false, detail: 'none is connected for this instance' }];
  }

  const { decodes: _there, ...listed } = engine; // a worker on another machine receives the whole recording as a file
  const guarded = { instance, abortMs: defaultTimeouts.abortMs };
  const moved: TranscriptionEngine = {
    ...listed,
    // Results of workers are validated like those of engines.
    transcribe: guardTranscribe({ transcribe: (call, options) => front.transcribe(instance, call, options) }, guarded),
    inspect: async () => [...workers(), ...(alsoHere ? ((await engine.inspect?.()) ?? []) : [])],
  };
  // An upload does not warm up a model here, because another worker may run the call. The call at startup, without a
  // model, warms up this node's own worker.
  moved.warmUp = async (model) => {
    if (alsoHere && model === undefined) await engine.warmUp?.();
  };
  if (!alsoHere) {
    delete (moved as { assets?: unknown }).assets; // only workers install assets
  }
  return { engine: moved, availabilityOf };
}

/** Whether workers run the instance: it is in FLEET_ENGINES or, by default, all of its models are local. */
export function runsOnWorkers(
  { name, published: { entries } }: Pick<Instance<'transcription'>, 'name' | 'published'>,
  named: readonly string[] | undefined,
): boolean {
  if (named !== undefined) return named.includes(name);
  return entries.length > 0 && entries.every(({ local }) => local);
}
