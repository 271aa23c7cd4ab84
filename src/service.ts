/** The service with its own servers: starts them, and stops them in the right order. */
import type { ApiFormat } from './http/api-format.ts';
import type { HttpApp } from './http/app.ts';
import { compileValidators } from './http/router.ts';
import { nativeFormat } from './http/native-format.ts';
import { watchCertificate } from './http/connection/certificate.ts';
import { listen } from './http/connection/listener.ts';
import { listenForMetrics } from './http/connection/metrics-listener.ts';
import { openMetrics } from './metrics/index.ts';
import type { PrometheusMetrics } from './metrics/prometheus.ts';
import { openProbedApp, type App, type ProbedApp, type ServiceOptions } from './open-app.ts';
import { openaiFormat } from './openai/format.ts';
import { isOpenAITarget, isSocketTarget } from './openai/paths.ts';
import { readTls } from './settings/tls.ts';
import { defaultTuning, type Tuning } from './tuning.ts';

/** The service with its own server. */
export interface Service extends Pick<App, 'registry' | 'disk'> {
  /** URL of the service. */
  readonly url: string;
  /** URL of the metrics; undefined if METRICS_PORT is not set. */
  readonly metricsUrl: string | undefined;
  /**
   * Reloads API_KEYS_FILE, TLS_CERT and TLS_KEY. If a file is invalid, logs the error and keeps the previous version.
   * Open connections keep their certificate.
   */
  reload(): Promise<void>;
  /** Warms caches so that the first request is not slow. Call this once, after startup. */
  finishStart(): Promise<void>;
  /** Makes `/readyz` answer 503, and closes each connection after its current request. Requests are still served. */
  drain(): void;
  /**
   * Lets requests in flight finish for `graceMs` milliseconds, then ends them with `shutting-down`. Resolves when
   * everything has ended. A later call can shorten the time.
   */
  stop(graceMs: number): Promise<void>;
}

/** Time for live sessions to transcribe what was said so far, before the requests in flight are ended. */
const concludeMs = 5_000;

/** Time to send the responses of aborted requests. */
const abortedResponseMs = 1_000;

function formatFor(target: string): ApiFormat {
  return isOpenAITarget(target) ? openaiFormat : nativeFormat;
}

/**
 * Starts the service on HOST and PORT. Throws a `SettingsError`, a `RegistryError`, or the error of a port that is in
 * use. The public server sends all requests to the app that `wrap` returns.
 *
 * @example
 * import { createLog, loadSettings, startService } from '@parlance/server';
 *
 * const settings = loadSettings(process.env);
 * const service = await startService({ settings, env: process.env, log: createLog(settings.logLevel) });
 * console.log(service.url);
 * process.once('SIGTERM', () => void service.stop(10_000));
 */
export async function startService(
  options: ServiceOptions,
  overrides: Partial<Tuning> = {},
  wrap: (app: HttpApp) => HttpApp = (app) => app,
): Promise<Service> {
  const tuning: Tuning = { ...defaultTuning, ...overrides };
  const metrics = await openMetrics(options.settings.metricsPort);
  const app = await openProbedApp({ ...options, tuning, metrics });
  const opened = await openServers({ ...app, ...wrap(app) }, options, tuning, metrics).catch(async (error: unknown) => {
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
      app.closeSessions();
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
    await app.leaveFleet(); // requests on this node may have needed the fleet until now
    timers.forEach(clearTimeout);
    certificate?.[Symbol.dispose]();
    await app[Symbol.asyncDispose]();
    // The metrics server closes last, so that it shows what the shutdown is waiting for.
    const lateScrape = setTimeout(() => metricsServer?.destroy(), abortedResponseMs);
    await metricsServer?.close();
    clearTimeout(lateScrape);
  }
}

async function openServers(
  { listener, upgrade, probes }: ProbedApp,
  { settings, log }: ServiceOptions,
  { connectionLimits: limits }: Tuning,
  metrics: PrometheusMetrics | undefined,
) {
  const { host, port, metricsHost, metricsPort = 0 } = settings;
  const upgrades = { isSocketTarget, upgrade };
  const tls = await readTls(settings);
  const server = await listen(listener, { host, port, certificate: tls, log, formatFor, limits, metrics, upgrades });
  try {
    const metricsServer =
      metrics && (await listenForMetrics({ host: metricsHost, port: metricsPort, log, ...probes, metrics }));
    return { server, metricsServer, tls };
  } catch (error) {
    await server.close();
    throw error;
  }
}
