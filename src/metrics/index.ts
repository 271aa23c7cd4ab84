/** The metrics of the service, where METRICS_PORT is set. */
import type { LoadedSettings } from '../settings/load.ts';
import type { PrometheusMetrics } from './prometheus.ts';

/** Undefined where they are off: nothing is loaded then, since prom-client takes 20 ms and 5 MB. */
export async function openMetrics({
  metricsPort,
}: Pick<LoadedSettings, 'metricsPort'>): Promise<PrometheusMetrics | undefined> {
  if (metricsPort === undefined) return undefined;
  const { createPrometheusMetrics } = await import('./prometheus.ts');
  return createPrometheusMetrics();
}
