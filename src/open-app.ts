/** Opens the service without a server: engines, the components that handlers use, the two APIs and their HTTP app. */
import { availableParallelism } from 'node:os';
import { createDecoder } from './audio/decode/index.ts';
import { createItemStore } from './chat/item-store.ts';
import { nativeContract } from './contract/document.ts';
import type { AnyOperations } from './contract/operations.ts';
import { readPreferred } from './contract/prefer.ts';
import { ProblemError } from './contract/problems.ts';
import { Preparations } from './engine-host/assets/preparations.ts';
import { findFfmpeg, type ParentLogger } from './engine-host/context.ts';
import { createReadiness } from './engine-host/models/readiness.ts';
import type { Registry } from './engine-host/registry/registry.ts';
import { createQueue } from './engine-host/scheduling/call-queue.ts';
import type { Fleet } from './fleet/index.ts';
import type { Services } from './handlers/dependencies.ts';
import { nativeOperations } from './handlers/index.ts';
import { createAccess } from './http/access/auth.ts';
import { createFailedLogins } from './http/access/failed-logins.ts';
import type { ApiFormat } from './http/api-format.ts';
import { createApp, type AppOptions, type HttpApp } from './http/app.ts';
import { ByteBudget, memoryForBodies } from './http/body/body-budget.ts';
import { createRateWatch } from './http/body/min-rate.ts';
import { createForwardedListener, forwardedAccess } from './http/forwarded.ts';
import type { Api } from './http/incoming-request.ts';
import { nativeFormat } from './http/native-format.ts';
import { loadPage } from './http/page.ts';
import { alive, createReadyProbe, type ReadyProbe } from './http/probes.ts';
import { createRouter, type RouterOptions } from './http/router.ts';
import { createSessions } from './http/sessions.ts';
import { createJobs } from './jobs/index.ts';
import { createClientSecrets, createSecretStore } from './keys/client-secrets.ts';
import { openKeyRing } from './keys/key-ring.ts';
import { createPreparingRule, servesThisMachineOnly } from './keys/preparing.ts';
import { createConcurrencySlots } from './limits/concurrency.ts';
import { createLimits, limitsOfTurns } from './limits/limits.ts';
import { createMinuteCounter } from './limits/minutes.ts';
import { openBudgets, usageFileOf } from './limits/usage-file.ts';
import type { Metrics } from './metrics/metrics.ts';
import { checkAliases } from './openai/aliases.ts';
import { openaiFormat } from './openai/format.ts';
import { openaiOperations } from './openai/index.ts';
import { isOpenAITarget } from './openai/paths.ts';
import { openNode } from './open-node.ts';
import { SettingsError, type Environment, type LoadedSettings } from './settings/load.ts';
import { openSpeech } from './speech/index.ts';
import { machineMemory } from './system/memory.ts';
import { createMcpTools } from './tools/mcp/index.ts';
import { createReadAloud } from './tools/read-aloud.ts';
import { createToolbox } from './tools/toolbox.ts';
import { defaultTuning, type Tuning } from './tuning.ts';

/** Options of `startService`. */
export interface ServiceOptions {
  /** The settings, from `loadSettings`. */
  readonly settings: LoadedSettings;
  /** Environment variables, for the engines and MCP servers. */
  readonly env: Environment;
  /** The log, from `createLog`, or any pino logger. */
  readonly log: ParentLogger;
}

/** Disk usage of temporary files. */
export interface DiskUse {
  /** The disk budget (DISK_BUDGET), in bytes. */
  readonly bytes: number;
  /** Bytes that temporary files currently use. */
  readonly used: number;
}

/** The service without its own server. Disposing of it aborts the requests in flight and disposes of the engines. */
export interface App extends HttpApp, AsyncDisposable {
  /** The engines and their models. */
  readonly registry: Registry;
  readonly disk: DiskUse;
  /** Reloads API_KEYS_FILE, as SIGHUP does. If the file is invalid, logs the error and keeps the previous keys. */
  readonly reloadKeys: () => Promise<void>;
  /** In a fleet: stops accepting work from other nodes, and resolves once the accepted work is finished. */
  readonly leaveFleet: () => Promise<void>;
  /** Makes `/readyz` return 503. Other requests are still served. */
  readonly drain: () => void;
  /** Ends live sessions after they have transcribed what was said so far. Call it a few seconds before `end`. */
  readonly conclude: () => void;
  /** Ends the requests in flight with `shutting-down`. */
  readonly end: () => void;
}

/** Throws a `RegistryError` or a `SettingsError`. The app collects no metrics, because they need their own server. */
export async function openApp(options: ServiceOptions): Promise<App> {
  return openProbedApp({ ...options, tuning: defaultTuning, metrics: undefined });
}

export interface ProbedApp extends App {
  readonly probes: { readonly alive: () => object; readonly readyProbe: ReadyProbe };
  /** Ends each live session as soon as it is idle. */
  readonly closeSessions: () => void;
}

export interface ProbedOptions extends ServiceOptions {
  readonly tuning: Tuning;
  readonly metrics: Metrics | undefined;
}

export async function openProbedApp(options: ProbedOptions): Promise<ProbedApp> {
  if (options.settings.fleetRole === 'worker') throw new SettingsError('FLEET_ROLE: a worker has no public listener');
  const opened: OpenedParts = [];
  try {
    const parts = await openParts(options, opened);
    const {
      keys,
      mcp,
      jobs,
      node: { registry, workspace, fleet },
    } = parts;
    const { drain, closeSessions, conclude, end, ...stages } = createShutdown(fleet);
    const served = serveParts(options, parts, stages);
    mcp.connect();
    await jobs.open();
    return {
      ...{ ...served, registry, drain, closeSessions, conclude, end },
      disk: workspace.disk,
      reloadKeys: async () => keys?.reload(),
      leaveFleet: async () => fleet?.drain(),
      async [Symbol.asyncDispose]() {
        end();
        await closeAll(opened);
      },
    };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/** Groups of components that are closed together. The groups are in the order in which they were opened. */
type OpenedParts = (readonly (AsyncDisposable | Disposable | undefined)[])[];

/** Closes the most recently opened group first. Rejects after closing everything if any part failed. */
async function closeAll(opened: OpenedParts): Promise<void> {
  const failures: unknown[] = [];
  for (const group of opened.splice(0).reverse()) {
    const closing = group.map(
      async (part) => part && (Symbol.asyncDispose in part ? part[Symbol.asyncDispose]() : part[Symbol.dispose]()),
    );
    for (const end of await Promise.allSettled(closing)) if (end.status === 'rejected') failures.push(end.reason);
  }
  if (failures.length > 0) throw failures[0];
}

type Parts = Awaited<ReturnType<typeof openParts>>;

async function openParts({ settings, env, log, tuning, metrics }: ProbedOptions, opened: OpenedParts) {
  const keys = await openKeyRing(settings, log);
  opened.push([keys]);
  const budgets = keys && (await openBudgets({ path: usageFileOf(settings.dataDir), log }));
  opened.push([budgets]); // closed late, because work that ends during the shutdown is still charged
  const node = await openNode({ settings, env, log, timeouts: tuning.engineTimeouts, metrics });
  opened.push([node]);
  const { registry, workspace, fleet, encoder } = node;
  const own = budgets && { minutes: createMinuteCounter(), concurrency: createConcurrencySlots(), budgets };
  const onRefused = (key: string, policy: string) => metrics?.keyLimited(key, policy);
  const limits = own && createLimits({ ...(fleet?.shareLimits(own) ?? own), onRefused });
  const idPrefix = fleet?.idPrefix;
  const speaking = { settings, tuning, registry, workspace, encode: encoder.encode, idPrefix, metrics, log };
  const { speakers, clips, speechSpool } = openSpeech(speaking);
  const mcp = createMcpTools({ settings, env, log });
  const tools = createToolbox([createReadAloud({ speakers, clips, log }), mcp], log);
  opened.push([tools, clips, speechSpool]);
  const jobs = createJobs({
    ...{ settings, env, registry, workspace, keys, limits, metrics, log, idPrefix },
    ...{ retryMs: tuning.jobRetryMs, ownerMs: tuning.jobOwnerMs },
  });
  const memory = Math.min(machineMemory(), settings.memoryBudget ?? Infinity);
  const preparations = new Preparations({ assets: registry.assets, log, dataDir: settings.dataDir, memory });
  opened.push([jobs, preparations]); // closed before the engines, which they use
  const items = settings.compatItems ? createItemStore() : undefined;
  opened.push([items]);
  const clientSecrets = createClientSecrets(fleet?.clientSecrets ?? createSecretStore(), keys);
  const { transcribeEnabled, transcribeTimeout, transcribeMaxSeconds: maxSeconds, sandbox, compatTools } = settings;
  const decode = createDecoder({ ffmpeg: findFfmpeg(settings, env), maxSeconds, accountOf: workspace.accountOf });
  // Engines decode in queues of their own.
  const decoding = createQueue({ slots: availableParallelism(), waiting: 64 }, () => performance.now());
  const services: Services = {
    ...{ registry, tools, speakers, clips, speechSpool, jobs, preparations, workspace, clientSecrets, items, metrics },
    ...{ transcribeEnabled, transcribeTimeout, sandbox, compatTools, ...limitsOfTurns(limits) },
    linkTo: (path) => `${settings.publicUrl ?? ''}${nativeContract.root}${path}`,
    decode: (recording, options) => decoding.run(() => decode(recording, options), options),
    streamHoldMs: tuning.streamHoldMs,
    refusePreparing: createPreparingRule(settings),
    realtimeEnabled: settings.realtime,
    compatAliases: new Map(Object.entries(settings.compatAliases)),
  };
  checkAliases(services);
  return { keys, node, limits, clips, mcp, jobs, clientSecrets, services };
}

/** The four stages of a shutdown. Each stage includes the previous ones. */
function createShutdown(fleet: Fleet | undefined) {
  const [draining, closing] = [new AbortController(), new AbortController()];
  const [concluding, ending] = [new AbortController(), new AbortController()];
  const drain = () => draining.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
  const closeSessions = () => {
    drain();
    closing.abort();
  };
  const conclude = () => {
    closeSessions();
    concluding.abort();
  };
  const end = () => {
    conclude();
    ending.abort(draining.signal.reason);
    fleet?.end();
  };
  const stages = { draining: draining.signal, closing: closing.signal };
  return { ...stages, concluding: concluding.signal, ending: ending.signal, drain, closeSessions, conclude, end };
}

type Stages = Pick<ReturnType<typeof createShutdown>, 'draining' | 'closing' | 'concluding' | 'ending'>;

/** Creates the two APIs and the HTTP app that serves them. */
function serveParts(
  { settings, env, log, tuning, metrics }: ProbedOptions,
  { keys, node, limits, clips, mcp, jobs, clientSecrets, services }: Parts,
  { draining, closing, concluding, ending }: Stages,
) {
  const { registry, workspace, fleet, residents, viaId } = node;
  const { publicUrl, trustProxy } = settings;
  const access = createAccess({ ...settings, keys, clientSecrets, failedLogins: createFailedLogins(log) });
  const sessions = createSessions({ limit: settings.realtimeSessions, draining, closing, concluding, metrics });
  const routing = { services, access, limits, sessions, checkAnswers: env.NODE_ENV !== 'production' };
  const prefer = settings.sandbox ? readPreferred : undefined;
  const handling = { ...routing, operations: nativeOperations };
  const native = openApi(nativeFormat, { ...handling, prefer, forward: fleet?.forward });
  const openai = openApi(openaiFormat, { ...routing, prefer, operations: openaiOperations });
  const readiness = createReadiness(registry, settings.readyRequires);
  const readyProbe = createReadyProbe(draining, readiness, () => jobs.warnings);
  const serving: AppOptions = {
    apiFor: (target) => (isOpenAITarget(target) ? openai : native),
    ...{ ...tuning, access, readyProbe, viaId, log, ending, metrics, publicUrl, trustProxy },
    budget: new ByteBudget(tuning.bodyBudget ?? memoryForBodies()),
    arrivals: createRateWatch(tuning.minRate),
    interimMs: settings.interimResponses === 'off' ? undefined : tuning.interimMs,
    page: settings.page ? loadPage() : new Map(),
    servesThisMachineOnly: servesThisMachineOnly(settings),
    temporaryDirectory: () => workspace.accountedDirectory('request'),
  };
  if (fleet) {
    const here = { ...handling, access: forwardedAccess, limits: undefined, forward: 'here' as const };
    const { heartbeatMs } = fleet;
    fleet.serve({ serve: createForwardedListener({ ...serving, heartbeatMs }, openApi(nativeFormat, here)), jobs });
  }
  metrics?.watch({
    availability: () => registry.availability(),
    clips: () => clips.size(),
    jobs: () => jobs.counts(),
    sessions: sessions.count,
    mcpServers: () => mcp.states(),
    residents: () => residents.facts(),
    fleet: fleet?.state,
  });
  return { ...createApp(serving), probes: { alive: () => alive(ending), readyProbe } };
}

function openApi<Operations extends AnyOperations<Operations>>(
  format: ApiFormat,
  options: Omit<RouterOptions<Operations, Services>, 'contract'>,
): Api {
  return { ...format, respond: createRouter({ ...options, contract: format.contract }) };
}
