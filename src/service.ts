/** Builds the service out of its settings: registry, services, backend, app, server; and ends it again. */
import { tmpdir, availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { EngineContext, Logger } from '../engines/contract.ts';
import { createRegistry, type Registry } from '../engines/registry.ts';
import { createApp } from './app.ts';
import { createDecoder } from './audio/decode.ts';
import { createBackend } from './backend.ts';
import { largestRequestBody } from './contract/largest-body.ts';
import { admit, handlers } from './handlers/index.ts';
import { createAccess } from './http/access.ts';
import { ByteBudget } from './http/json.ts';
import { findProgram, runProgram } from './machine/programs.ts';
import { createQueue } from './machine/queue.ts';
import { createWorkspace, type Workspace } from './machine/workspace.ts';
import { ProblemError } from './problems.ts';
import { listen } from './server.ts';
import type { Services } from './services.ts';
import type { Environment, LoadedSettings } from './settings/load.ts';

export interface ServiceOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly log: Logger;
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
  const workspace = await createWorkspace(settings.dataDirIsNamed ? join(settings.dataDir, 'tmp') : tmpdir());
  const registry = await openRegistry(settings, env, log, workspace).catch((error: unknown) => {
    workspace[Symbol.dispose]();
    throw error;
  });
  const services: Services = {
    registry,
    transcribeEnabled: settings.transcribeEnabled,
    transcribeTimeoutMs: settings.transcribeTimeout * 1000,
  };
  const ending = new AbortController();
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
  const release = async () => {
    await registry[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  };
  const server = await listen(app, settings).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  return {
    url: server.url,
    registry,
    async stop(graceMs) {
      const abort = () => ending.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
      const timers = [setTimeout(abort, graceMs), setTimeout(server.destroy, graceMs + farewellMs)];
      await server.close();
      timers.forEach(clearTimeout);
      abort();
      await release();
    },
  };
}

/** A share of the heap, and never less than the largest valid request. */
function memoryForBodies(): number {
  return Math.max(getHeapStatistics().heap_size_limit / 16, largestRequestBody());
}

async function openRegistry(
  settings: LoadedSettings,
  env: Environment,
  log: Logger & { child?: (facts: object) => Logger },
  workspace: Workspace,
): Promise<Registry> {
  const decode = createDecoder({
    ffmpeg: settings.ffmpeg ?? findProgram('ffmpeg'),
    maxSeconds: settings.transcribeMaxSeconds,
  });
  const contextFor = (instance: string): EngineContext => ({
    instance,
    fetch: globalThis.fetch,
    env,
    log: log.child?.({ engine: instance }) ?? log,
    now: Date.now,
    dataDir: settings.dataDir,
    resolve: (path) => resolve(settings.baseDir, path),
    cores: availableParallelism(),
    temporaryDirectory: () => workspace.directory(instance),
    decode,
    queue: (options) => createQueue(options, Date.now),
    run: runProgram,
  });
  const { transcribeModel, chatModel, ttsModel } = settings;
  return createRegistry({
    instances: settings.engines,
    baseDir: settings.baseDir,
    defaults: {
      ...(transcribeModel !== undefined && { transcription: transcribeModel }),
      ...(chatModel !== undefined && { chat: chatModel }),
      ...(ttsModel !== undefined && { speech: ttsModel }),
    },
    contextFor,
  });
}
