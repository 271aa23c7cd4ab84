/** Builds the service out of its settings: registry, services, backend, app, server; and ends it again. */
import { setMaxListeners } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import type { Registry } from '../engines/registry.ts';
import { createApp } from './app.ts';
import { createBackend } from './backend.ts';
import { largestRequestBody } from './contract/largest-body.ts';
import type { ParentLogger } from './engine-context.ts';
import { openEngines } from './engines.ts';
import { admit, handlers } from './handlers/index.ts';
import { createAccess } from './http/access.ts';
import { ByteBudget } from './http/json.ts';
import { ProblemError } from './problems.ts';
import { listen } from './server.ts';
import type { Services } from './services.ts';
import type { Environment, LoadedSettings } from './settings/load.ts';

export interface ServiceOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly log: ParentLogger;
  /** Milliseconds that a body may take to arrive; five minutes when absent. */
  readonly bodyTimeoutMs?: number;
}

export interface Service {
  /** Where it listens. */
  readonly url: string;
  readonly registry: Registry;
  /** Lets requests in flight finish for so many milliseconds, then ends them with `shutting-down`. */
  stop(graceMs: number): Promise<void>;
}

/** Answers to aborted requests take a moment to go out. */
const farewellMs = 1_000;

/** Throws a `RegistryError`, or what `listen` says. */
export async function startService({ settings, env, log, bodyTimeoutMs = 300_000 }: ServiceOptions): Promise<Service> {
  const engines = await openEngines(settings, env, log);
  const { registry, workspace } = engines;
  const services: Services = {
    registry,
    transcribeEnabled: settings.transcribeEnabled,
    transcribeTimeoutMs: settings.transcribeTimeout * 1000,
  };
  const ending = new AbortController();
  setMaxListeners(0, ending.signal); // one for each request in flight
  const app = createApp({
    respond: await createBackend({ handlers, services, admit: (operation) => admit(operation, services) }),
    access: createAccess(settings),
    budget: new ByteBudget(memoryForBodies()),
    bodyTimeoutMs,
    log,
    checkAnswers: env.NODE_ENV !== 'production',
    temporaryDirectory: () => workspace.directory('request'),
    ending: ending.signal,
  });
  const server = await listen(app, settings).catch(async (error: unknown) => {
    await engines[Symbol.asyncDispose]();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  return {
    url: server.url,
    registry,
    stop: (graceMs) => (stopped ??= stop(graceMs)),
  };

  async function stop(graceMs: number): Promise<void> {
    const abort = () => ending.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
    const timers = [setTimeout(abort, graceMs), setTimeout(server.destroy, graceMs + farewellMs)];
    await server.close();
    timers.forEach(clearTimeout);
    abort();
    await engines[Symbol.asyncDispose]();
  }
}

/** A share of the heap, and never less than the largest valid request. */
function memoryForBodies(): number {
  return Math.max(getHeapStatistics().heap_size_limit / 16, largestRequestBody());
}
