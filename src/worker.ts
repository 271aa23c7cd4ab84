/** A worker of a fleet: engines that work for the fronts, without a public listener. */
import type { Registry } from './engine-host/registry.ts';
import { openNode, type NodeOptions } from './node.ts';
import type { DiskUse } from './service.ts';

export interface Worker {
  readonly registry: Registry;
  readonly disk: DiskUse;
  /** Why it takes no tickets now; [] when it does. For a readiness probe. */
  readonly notReady: () => readonly string[];
  /** Takes no more tickets. */
  drain(): void;
  /** Lets the work in hand finish for so many milliseconds, then hands it back; a later call may hurry. */
  stop(graceMs: number): Promise<void>;
}

/** Throws a `RegistryError` or a `SettingsError`. */
export async function startWorker(options: NodeOptions): Promise<Worker> {
  const node = await openNode(options);
  const { registry, workspace, fleet } = node;
  const timers: NodeJS.Timeout[] = [];
  let stopped: Promise<void> | undefined;
  return {
    registry,
    disk: workspace.disk,
    notReady: () => fleet?.notReady() ?? [],
    drain: () => void fleet?.drain(),
    stop(graceMs) {
      timers.push(setTimeout(() => fleet?.end(), graceMs));
      return (stopped ??= stop());
    },
  };

  async function stop(): Promise<void> {
    await fleet?.drain();
    timers.forEach(clearTimeout);
    await node[Symbol.asyncDispose]();
  }
}
