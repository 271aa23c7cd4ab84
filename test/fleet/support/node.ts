/** A node of a fleet in the test's own process, with short intervals and an engine of the test's own. */
import { onTestFinished } from 'vitest';
import type { Transcript, TranscriptionEngine } from '../../../engines/contract/index.ts';
import { guardTranscribe } from '../../../src/engine-host/guard/calls.ts';
import type { Instance } from '../../../src/engine-host/models/instance.ts';
import { openFleet, type Fleet } from '../../../src/fleet/index.ts';
import { fleetTimeouts, type FleetTimeouts } from '../../../src/fleet/timeouts.ts';
import { readFleet } from '../../../src/settings/fleet.ts';
import { loadSettings } from '../../../src/settings/load.ts';
import { createWorkspace } from '../../../src/system/workspace.ts';
import { freePort } from '../../support/free-port.ts';
import type { LogLine } from '../../support/service.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';

export const shortLimits = {
  ...fleetTimeouts,
  ...{
    redisMs: 1_000,
    takeMs: 300,
    reconcileMs: 50,
    readNodesMs: 50,
    announceMs: 100,
    announcedMs: 1_000,
    firstWorkerMs: 500,
  },
};

export interface FleetNode extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly log: readonly LogLine[];
  /** On a front: has a recording of three bytes transcribed by a worker. */
  transcribe(caller?: AbortController): Promise<Transcript>;
}

interface NodeOptions {
  readonly url: string;
  readonly role: 'front' | 'worker';
  /** The engine of a worker. */
  readonly transcribe?: TranscriptionEngine['transcribe'];
  readonly slots?: number;
  /** The disk budget of a worker in bytes. */
  readonly diskBytes?: number;
  readonly timeouts?: Partial<FleetTimeouts>;
}

/** Until the test ends. */
export async function use<T extends AsyncDisposable>(opening: Promise<T>): Promise<T> {
  const opened = await opening;
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

const unused = () => Promise.reject(new Error('a front transcribes nothing'));

export async function openNode({
  url,
  role,
  transcribe = unused,
  slots = 1,
  diskBytes,
  timeouts,
}: NodeOptions): Promise<FleetNode> {
  const dir = await temporaryDirectory();
  await writeFiles(dir, { recording: 'wav' });
  const log: LogLine[] = [];
  const write = (level: number) => (facts: object, msg: string) => void log.push({ ...facts, level, msg });
  const logger = { debug: write(20), info: write(30), warn: write(40), error: write(50), child: () => logger };
  const env = {
    ...{ FLEET_URL: url, FLEET_SECRET: 's'.repeat(32), FLEET_ROLE: role, FLEET_ENGINES: 'local' },
    ...(role === 'front' && { FLEET_ADDRESS: `http://127.0.0.1:${await freePort()}` }),
  };
  const fleet = await openFleet({
    settings: readFleet(loadSettings(env, dir))!,
    transcribeTimeout: 600,
    log: logger,
    timeouts: { ...shortLimits, ...timeouts },
  });
  const workspace = await createWorkspace(dir, diskBytes);
  fleet.registerQueue('local', { slots, waiting: 16 });
  const transcribes = {
    models: [{ id: 'm', local: true }],
    transcribe: guardTranscribe({ transcribe }, { instance: 'local', abortMs: 50 }),
  };
  const availabilityOf = () => ({ available: true, code: 'ready', reason: 'Ready.' });
  const own = { name: 'local', engine: transcribes, published: { entries: transcribes.models }, availabilityOf };
  const remote = fleet.wrapAsRemote(own as unknown as Instance<'transcription'>); // undefined without a front
  fleet.start({ workspace, viaId: role });
  return {
    fleet,
    log,
    transcribe(caller = new AbortController()) {
      const recording = { path: `${dir}/recording`, bytes: 3, container: 'wav', mediaType: 'audio/wav' } as const;
      return remote!.engine.transcribe({ recording, model: 'm' }, { signal: caller.signal });
    },
    async [Symbol.asyncDispose]() {
      fleet.end();
      await fleet[Symbol.asyncDispose]();
      workspace[Symbol.dispose]();
    },
  };
}
