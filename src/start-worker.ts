/** A worker of a fleet: runs engines on behalf of the fronts. Listens only on METRICS_PORT. */
import { ProblemError } from './contract/problems.ts';
import type { ListeningServer } from './http/connection/listener.ts';
import { listenForMetrics } from './http/connection/metrics-listener.ts';
import { alive, createReadyProbe } from './http/probes.ts';
import { openMetrics } from './metrics/index.ts';
import type { PrometheusMetrics } from './metrics/prometheus.ts';
import { openNode, type OpenNode, type NodeOptions } from './open-node.ts';

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

/** Throws a `RegistryError` or a `SettingsError`. */
export async function startWorker(options: Omit<NodeOptions, 'metrics'>) {
  const metrics = await openMetrics(options.settings.metricsPort);
  const node = await openNode({ ...options, metrics });
  const { registry, workspace, fleet } = node;
  const draining = new AbortController();
  const server = metrics && (await openProbes(options, node, draining.signal, metrics));
  const timers: NodeJS.Timeout[] = [];
  let stopped: Promise<void> | undefined;
  return {
    /** URL of the metrics; undefined if METRICS_PORT is not set. */
    metricsUrl: server && `${server.url}/metrics`,
    registry,
    disk: workspace.disk,
    /** Stops accepting tickets; from now on, `/readyz` returns 503. */
    drain,
    /**
     * Lets accepted work finish for up to `graceMs`, then hands it back to the fleet. A later call can shorten the
     * time.
     */
    stop(graceMs: number): Promise<void> {
      drain();
      timers.push(setTimeout(() => fleet?.end(), graceMs));
      return (stopped ??= stop());
    },
  };

  function drain(): void {
    draining.abort(new ProblemError('shutting-down', 'The worker is shutting down.'));
    void fleet?.drain();
  }

  async function stop(): Promise<void> {
    await fleet?.drain();
    timers.forEach(clearTimeout);
    await node[Symbol.asyncDispose]();
    server?.destroy();
    await server?.close();
  }
}

/** A worker without Redis is alive but not ready: a restart would only lose the work in progress. */
async function openProbes(
  { settings, log }: Omit<NodeOptions, 'metrics'>,
  node: OpenNode,
  draining: AbortSignal,
  metrics: PrometheusMetrics,
): Promise<ListeningServer> {
  const { metricsHost: host, metricsPort: port = 0 } = settings;
  const { registry, residents, fleet } = node;
  metrics.watch({
    availability: () => registry.availability(),
    residents: () => residents.facts(),
    clips: () => noClips,
    mcpServers: () => [],
    fleet: fleet?.state,
  });
  const probes = {
    alive: () => alive(new AbortController().signal),
    readyProbe: createReadyProbe(draining, () => fleet?.notReady() ?? []),
  };
  try {
    return await listenForMetrics({ host, port, log, metrics, ...probes });
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
}

const noClips = { count: 0, bytes: 0 };
