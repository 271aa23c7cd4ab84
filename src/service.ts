/** Builds the service from its settings (registry, services, router, app, server), and stops it. */
import { getHeapStatistics } from 'node:v8';
import type { Registry } from './engine-host/registry/registry.ts';
import { createApp, type RequestListener, type UpgradeListener } from './http/app.ts';
import type { ApiFormat } from './http/api-format.ts';
import type { Api } from './http/incoming-request.ts';
import { nativeFormat } from './http/native-format.ts';
import { compileValidators, createRouter, type RouterOptions } from './http/router.ts';
import { createItemStore } from './chat/item-store.ts';
import { clipLimits, createClipStore } from './clips/store.ts';
import { nativeContract } from './contract/document.ts';
import { largestRequestBody } from './contract/body-limit.ts';
import type { AnyOperations } from './contract/operations.ts';
import { preferredAnswer } from './contract/prefer.ts';
import type { ParentLogger } from './engine-host/context.ts';
import { Preparations } from './engine-host/assets/preparations.ts';
import { createReadiness } from './engine-host/models/readiness.ts';
import { openNode, type OpenNode } from './open-node.ts';
import { nativeOperations } from './handlers/index.ts';
import { createAccess } from './http/access/auth.ts';
import { createFailedLogins } from './http/access/failed-logins.ts';
import { createRateWatch } from './http/body/min-rate.ts';
import { ByteBudget, type BudgetSize } from './http/body/body-budget.ts';
import { ProblemError } from './contract/problems.ts';
import { watchCertificate } from './http/connection/certificate.ts';
import { listen, type ListeningServer } from './http/connection/listener.ts';
import { loadPage } from './http/page.ts';
import { listenForMetrics } from './http/connection/metrics-listener.ts';
import { alive, createReadyProbe, type ReadyProbe } from './http/probes.ts';
import type { Services } from './handlers/dependencies.ts';
import { openKeyRing } from './keys/key-ring.ts';
import { createPreparingRule, servesThisMachineOnly } from './keys/preparing.ts';
import { createLimits } from './limits/limits.ts';
import { createMinuteCounter } from './limits/minutes.ts';
import { createConcurrencySlots } from './limits/concurrency.ts';
import { openBudgets, usageFileOf } from './limits/usage-file.ts';
import { largestSpeech } from './system/disk-budget.ts';
import { createSpeechModelSelector } from './speech/speech-models.ts';
import { createClientSecrets, createSecretStore } from './keys/client-secrets.ts';
import { createSessions } from './http/sessions.ts';
import { createSpeechSpool } from './speech/speech-spool.ts';
import { createJobs } from './jobs/index.ts';
import { openMetrics } from './metrics/index.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { PrometheusMetrics } from './metrics/prometheus.ts';
import { checkAliases } from './openai/aliases.ts';
import { openaiFormat } from './openai/format.ts';
import { openaiOperations } from './openai/index.ts';
import { isOpenAITarget, isSocketTarget } from './openai/paths.ts';
import { createMcpTools } from './tools/mcp/index.ts';
import { createReadAloud } from './tools/read-aloud.ts';
import { createToolbox } from './tools/toolbox.ts';
import { currentKey } from './request-scope.ts';
import { SettingsError, type Environment, type LoadedSettings } from './settings/load.ts';
import { readTls, type Tls } from './settings/tls.ts';
import { defaultTuning, type Tuning } from './tuning.ts';

/** Options of `startService`. */
export interface ServiceOptions {
  /** The settings, from `loadSettings`. */
  readonly settings: LoadedSettings;
  /** Environment variables, for the engines and MCP servers. */
  readonly env: Environment;
  /** The log, from `createLog`, or any logger of pino. */
  readonly log: ParentLogger;
}

/** Use of the disk by temporary files. */
export interface DiskUse {
  /** DISK_BUDGET in bytes. */
  readonly bytes: number;
  /** Bytes that temporary files use now. */
  readonly used: number;
}

/** The service without a server of its own. Disposing of it aborts the requests in flight and ends the engines. */
export interface App extends AsyncDisposable {
  /** Serves every path of the service. A listener for `http.createServer`. */
  readonly listener: RequestListener;
  /** Serves the WebSocket, `GET /v1/realtime`. A listener for `upgrade` events. */
  readonly upgrade: UpgradeListener;
  /** The engines and their models. */
  readonly registry: Registry;
  readonly disk: DiskUse;
  /** Reads API_KEYS_FILE again, as SIGHUP does. An invalid file is logged, and the previous keys stay valid. */
  readonly reloadKeys: () => Promise<void>;
  /** In a fleet: stops accepting work of other nodes, and resolves once the accepted work is finished. */
  readonly leaveFleet: () => Promise<void>;
  /** Makes `/readyz` answer 503; other requests are still served. */
  readonly drain: () => void;
  /** Makes live sessions transcribe what has been said, and end. Call it some seconds before `end`. */
  readonly conclude: () => void;
  /** Ends the requests in flight with `shutting-down`. */
  readonly end: () => void;
}

/** The service with a server of its own. */
export interface Service {
  /** URL on which it listens. */
  readonly url: string;
  /** URL of the metrics; undefined if METRICS_PORT is not set. */
  readonly metricsUrl: string | undefined;
  /** The engines and their models. */
  readonly registry: Registry;
  readonly disk: DiskUse;
  /**
   * Reads API_KEYS_FILE, TLS_CERT and TLS_KEY again. Invalid files are logged, and the previous ones stay in effect.
   * Open connections keep their certificate.
   */
  reload(): Promise<void>;
  /** Warms caches so that the first request is not slow. Call it once, after the start. */
  finishStart(): Promise<void>;
  /** Makes `/readyz` answer 503, and closes connections after their request; requests are still served. */
  drain(): void;
  /**
   * Lets requests in flight finish for `graceMs` milliseconds, then ends them with `shutting-down`. Resolves when
   * everything has ended. A later call with a shorter time takes effect.
   */
  stop(graceMs: number): Promise<void>;
}

/** Clips have one account in the disk budget: the clip store divides it among the callers. */
const clipStore = Symbol('clips');

/** Time for live sessions to transcribe what has been said before the requests in flight end. */
const concludeMs = 5_000;

/** Time for the responses of aborted requests to be sent. */
const abortedResponseMs = 1_000;

function formatFor(target: string): ApiFormat {
  return isOpenAITarget(target) ? openaiFormat : nativeFormat;
}

/**
 * Starts the service on HOST and PORT. Throws a `SettingsError`, a `RegistryError`, or the error of a port that is in
 * use.
 *
 * @example
 * import { createLog, loadSettings, startService } from '@parlance/server';
 *
 * const settings = loadSettings(process.env);
 * const service = await startService({ settings, env: process.env, log: createLog(settings.logLevel) });
 * console.log(service.url);
 * process.once('SIGTERM', () => void service.stop(10_000));
 */
export async function startService(options: ServiceOptions, overrides: Partial<Tuning> = {}): Promise<Service> {
  const tuning: Tuning = { ...defaultTuning, ...overrides };
  const metrics = await openMetrics(options.settings.metricsPort);
  const app = await openProbedApp(options, tuning, metrics);
  const opened = await openServers(app, options, tuning, metrics).catch(async (error: unknown) => {
    await app[Symbol.asyncDispose]();
    throw error;
  });
  const { server, metricsServer, tls } = opened;
  const certificate = tls && watchCertificate(tls, { ...options, server });
  const timers: NodeJS.Timeout[] = [];
  let stopped: Promise<void> | undefined;
  return {
    url: server.url,
    metricsUrl: metricsServer && `${metricsServer.url}/metrics`,
    registry: app.registry,
    disk: app.disk,
    async reload() {
      await Promise.all([app.reloadKeys(), certificate?.reload()]);
    },
    async finishStart() {
      for (const { contract } of [nativeFormat, openaiFormat]) await compileValidators(contract);
    },
    drain,
    stop(graceMs) {
      drain();
      if (graceMs === 0) app.end();
      timers.push(
        setTimeout(app.conclude, Math.max(graceMs / 2, graceMs - concludeMs)),
        setTimeout(app.end, graceMs),
        setTimeout(server.destroy, graceMs + abortedResponseMs),
      );
      return (stopped ??= stop());
    },
  };

  function drain(): void {
    app.drain();
    server.drain();
  }

  async function stop(): Promise<void> {
    await server.close();
    await app.leaveFleet(); // requests of this node may have needed the fleet
    timers.forEach(clearTimeout);
    certificate?.[Symbol.dispose]();
    await app[Symbol.asyncDispose]();
    // The metrics end last: until then, they show what the shutdown waits for.
    const lateScrape = setTimeout(() => metricsServer?.destroy(), abortedResponseMs);
    await metricsServer?.close();
    clearTimeout(lateScrape);
  }
}

interface Servers {
  readonly server: ListeningServer;
  readonly metricsServer: ListeningServer | undefined;
  readonly tls: Tls | undefined;
}

async function openServers(
  { listener, upgrade, probes }: ProbedApp,
  { settings, log }: ServiceOptions,
  { connectionLimits: limits }: Tuning,
  metrics: PrometheusMetrics | undefined,
): Promise<Servers> {
  const { host, port, metricsHost, metricsPort = 0 } = settings;
  const upgrades = { isSocketTarget, upgrade };
  const tls = await readTls(settings);
  const server = await listen(listener, { host, port, certificate: tls, log, formatFor, limits, metrics, upgrades });
  if (metrics === undefined) return { server, metricsServer: undefined, tls };
  try {
    const metricsServer = await listenForMetrics({ host: metricsHost, port: metricsPort, log, ...probes, metrics });
    return { server, metricsServer, tls };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Throws a `RegistryError` or a `SettingsError`. The app collects no metrics, which need a server of their own. */
export async function openApp(options: ServiceOptions): Promise<App> {
  return openProbedApp(options, defaultTuning, undefined);
}

interface ProbedApp extends App {
  readonly probes: { readonly alive: () => object; readonly readyProbe: ReadyProbe };
}

async function openProbedApp(
  options: ServiceOptions,
  tuning: Tuning,
  metrics: Metrics | undefined,
): Promise<ProbedApp> {
  if (options.settings.fleetRole === 'worker') throw new SettingsError('FLEET_ROLE: a worker has no public listener');
  const node = await openNode({ ...options, timeouts: tuning.engineTimeouts, metrics });
  try {
    return await buildApp(options, tuning, node, metrics);
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
}

async function buildApp(
  { settings, env, log }: ServiceOptions,
  tuning: Tuning,
  engines: OpenNode,
  metrics: Metrics | undefined,
): Promise<ProbedApp> {
  const { registry, workspace } = engines;
  const speakers = createSpeechModelSelector({
    ...{ registry, defaultVoice: settings.ttsVoice, encode: engines.encoder.encode, metrics },
  });
  const ownClips = createClipStore({
    directory: () => workspace.accountedDirectory('clip', { holder: clipStore }),
    log,
    limits: { ...clipLimits(workspace.disk.bytes), keepMs: tuning.clipKeepMs, unreadMs: tuning.clipUnreadMs },
    idPrefix: engines.fleet?.idPrefix,
  });
  const clips = engines.fleet?.shareClips(ownClips) ?? ownClips;
  const speechSpool = createSpeechSpool({
    directory: () => workspace.accountedDirectory('speech', { limit: largestSpeech(workspace.disk.bytes) }),
    log,
  });
  const mcp = createMcpTools({ settings, env, log });
  const tools = createToolbox([createReadAloud({ speakers, clips, log }), mcp], log);
  const keys = await openKeyRing(settings, log);
  const budgets = keys && (await openBudgets({ path: usageFileOf(settings.dataDir), log }));
  const onRefused = (key: string, policy: string) => metrics?.keyLimited(key, policy);
  const own = budgets && { minutes: createMinuteCounter(), concurrency: createConcurrencySlots(), budgets };
  const limits = own && createLimits({ ...(engines.fleet?.shareLimits(own) ?? own), onRefused });
  const working = { settings, env, registry, workspace, keys, limits, metrics, log };
  const items = settings.compatItems ? createItemStore() : undefined;
  const ownJobs = createJobs({
    ...{ ...working, retryMs: tuning.jobRetryMs, ownerMs: tuning.jobOwnerMs, idPrefix: engines.fleet?.idPrefix },
  });
  const jobs = engines.fleet?.shareJobs(ownJobs) ?? ownJobs;
  const preparations = new Preparations({ assets: registry.assets, log, dataDir: settings.dataDir });
  const clientSecrets = createClientSecrets(engines.fleet?.clientSecrets ?? createSecretStore(), keys);
  const services: Services = {
    registry,
    tools,
    speakers,
    clips,
    speechSpool,
    linkTo: (path) => `${settings.publicUrl ?? ''}${nativeContract.root}${path}`,
    streamHoldMs: tuning.streamHoldMs,
    transcribeEnabled: settings.transcribeEnabled,
    transcribeTimeout: settings.transcribeTimeout,
    jobs,
    preparations,
    refusePreparing: createPreparingRule(settings),
    sandbox: settings.sandbox,
    workspace,
    allowTurn: async () => {
      const key = currentKey();
      if (key) await limits?.allowTurn(key, 'audio');
    },
    requireAudioBudget: async () => {
      const key = currentKey();
      if (key) await limits?.requireBudget(key, 'audio');
    },
    compatTools: settings.compatTools,
    realtimeEnabled: settings.realtime,
    clientSecrets,
    items,
    compatAliases: new Map(Object.entries(settings.compatAliases)),
    metrics,
  };
  checkAliases(services);
  const draining = new AbortController();
  const concluding = new AbortController();
  const ending = new AbortController();
  const access = createAccess({ ...settings, keys, clientSecrets, failedLogins: createFailedLogins(log) });
  const sessions = createSessions({
    limit: settings.realtimeSessions,
    draining: draining.signal,
    concluding: concluding.signal,
    metrics,
  });
  const routing = { services, access, limits, sessions, checkAnswers: env.NODE_ENV !== 'production' };
  const prefer = settings.sandbox ? preferredAnswer : undefined;
  const native = openApi(nativeFormat, { ...routing, operations: nativeOperations, prefer });
  const openai = openApi(openaiFormat, { ...routing, operations: openaiOperations });
  const readiness = createReadiness(registry, settings.readyRequires);
  const readyProbe = createReadyProbe(draining.signal, readiness, () => ownJobs.warnings);
  const { listener, upgrade } = createApp({
    apiFor: (target) => (isOpenAITarget(target) ? openai : native),
    access,
    budget: new ByteBudget(tuning.bodyBudget ?? memoryForBodies()),
    arrivals: createRateWatch(tuning.minRate),
    bodyTimeoutMs: tuning.bodyTimeoutMs,
    uploadTimeoutMs: tuning.uploadTimeoutMs,
    heartbeatMs: tuning.heartbeatMs,
    socketCheckMs: tuning.socketCheckMs,
    interimMs: settings.interimResponses === 'off' ? undefined : tuning.interimMs,
    readyProbe,
    page: settings.page ? loadPage() : new Map(),
    publicUrl: settings.publicUrl,
    trustProxy: settings.trustProxy,
    servesThisMachineOnly: servesThisMachineOnly(settings),
    viaId: engines.viaId,
    log,
    temporaryDirectory: () => workspace.accountedDirectory('request'),
    ending: ending.signal,
    metrics,
  });
  metrics?.watch({
    availability: () => registry.availability(),
    clips: () => ownClips.size(),
    jobs: () => ownJobs.counts(),
    sessions: sessions.count,
    mcpServers: () => mcp.states(),
    residents: () => engines.residents.facts(),
    fleet: engines.fleet?.state,
  });
  const drain = () => draining.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
  const conclude = () => {
    drain();
    concluding.abort();
  };
  const end = () => {
    conclude();
    ending.abort(draining.signal.reason);
    engines.fleet?.end();
  };
  mcp.connect();
  await ownJobs.open();
  return {
    listener,
    upgrade,
    registry,
    disk: workspace.disk,
    reloadKeys: async () => keys?.reload(),
    leaveFleet: async () => engines.fleet?.drain(),
    drain,
    conclude,
    end,
    probes: { alive: () => alive(ending.signal), readyProbe },
    async [Symbol.asyncDispose]() {
      end();
      keys?.[Symbol.dispose]();
      items?.[Symbol.dispose]();
      // Jobs and installations use the engines, so they end first.
      await Promise.all([ownJobs[Symbol.asyncDispose](), preparations[Symbol.asyncDispose]()]);
      await Promise.all([tools, ownClips, speechSpool].map((part) => part[Symbol.asyncDispose]()));
      await engines[Symbol.asyncDispose]();
      await budgets?.[Symbol.asyncDispose]();
    },
  };
}

function openApi<Operations extends AnyOperations<Operations>>(
  format: ApiFormat,
  options: Omit<RouterOptions<Operations, Services>, 'contract'>,
): Api {
  return { ...format, respond: createRouter({ ...options, contract: format.contract }) };
}

/** Each of the two budgets has a sixteenth of the heap; the shared one fits at least the largest valid request. */
function memoryForBodies(): BudgetSize {
  const share = getHeapStatistics().heap_size_limit / 16;
  return { reserve: share, shared: Math.max(share, largestRequestBody()) };
}
