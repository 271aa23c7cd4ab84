/**
 * With TEST_FLEET=1 every service that `startTestService` starts is a front of a fleet of its own, and a worker does its
 * transcriptions: callers must not notice. Both nodes are in the process of the test; between them are real sockets and a
 * Redis that all tests share.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '../../src/log.ts';
import { startService, type Service } from '../../src/service.ts';
import { loadSettings, type Environment } from '../../src/settings/load.ts';
import { startWorker, type RunningWorker } from '../../src/start-worker.ts';
import type { Tuning } from '../../src/tuning.ts';
import { freePort } from './free-port.ts';

/** The address of the Redis, for the tests. */
export const redisVariable = 'TEST_FLEET_REDIS';

interface StartOptions {
  readonly env: Environment;
  /** Where parlance.config.yaml is. */
  readonly dir: string;
  /** Gets the log of the service, of both nodes. */
  readonly sink: { write(line: string): void };
}

/** One process, unless TEST_FLEET asks for two nodes and the test does not make nodes itself. */
export function startAsAsked(options: StartOptions, tuning: Partial<Tuning>): Promise<Service> {
  const redis = process.env[redisVariable];
  return redis === undefined || options.env.FLEET_URL !== undefined
    ? startService(nodeOptions(options), tuning)
    : startFleet(options, tuning, redis);
}

function nodeOptions({ env, dir, sink }: StartOptions) {
  return { settings: loadSettings(env, dir), env, log: createLog('debug', sink) };
}

async function startFleet(options: StartOptions, tuning: Partial<Tuning>, redis: string): Promise<Service> {
  const { env, dir } = options;
  const address = `http://127.0.0.1:${await freePort()}`;
  const fleet = { ...env, FLEET_URL: redis, FLEET_SECRET: 's'.repeat(32), FLEET_PREFIX: `test-${randomUUID()}` };
  const ofWorker = { ...fleet, FLEET_ROLE: 'worker', DATA_DIR: join(dir, 'worker'), METRICS_PORT: undefined };
  const ofFront = { ...fleet, FLEET_ROLE: 'front', FLEET_ADDRESS: address };
  const begun = new Set<unknown>();
  const sink = {
    write(line: string) {
      const { msg, instance } = JSON.parse(line) as { msg: string; instance?: string };
      if (msg === 'takes tickets') begun.add(instance);
      options.sink.write(line);
    },
  };
  const worker = await startWorker({
    ...nodeOptions({ dir, env: ofWorker, sink }),
    timeouts: tuning.engineTimeouts,
  });
  try {
    const instances = instancesOf(worker);
    while (!instances.every((instance) => begun.has(instance))) await pause(5);
    const front = await startService(nodeOptions({ ...options, env: ofFront }), tuning);
    await knows(front, instances);
    return {
      ...front,
      async stop(graceMs) {
        await front.stop(graceMs);
        await worker.stop(0);
      },
    };
  } catch (error) {
    await worker.stop(0);
    throw error;
  }
}

/** The instances whose transcriptions the worker does, as soon as it can do any. */
function instancesOf({ registry }: RunningWorker): string[] {
  const instances = Map.groupBy(registry.of('transcription').all, ({ instance }) => instance);
  return [...instances].flatMap(([instance, models]) => {
    const isLocal = models.every(({ entry }) => entry.local);
    return isLocal && models.some(({ availability }) => availability.available) ? [instance] : [];
  });
}

/** Resolves once the front has read that a worker does them: until then they are busy. */
async function knows({ registry }: Service, instances: readonly string[]): Promise<void> {
  for (const model of registry.of('transcription').all) {
    if (!instances.includes(model.instance)) continue;
    while (model.availability.code === 'busy') await pause(5);
  }
}
