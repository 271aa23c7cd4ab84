/** Opens the metrics of the service if METRICS_PORT is set. */
import type { PrometheusMetrics } from './prometheus.ts';

/** Resolves with undefined if metrics are off. prom-client is then not loaded, which saves 20 ms and 5 MB. */
export async function openMetrics(port: number | undefined): Promise<PrometheusMetrics | undefined> {
  if (port === undefined) return undefined;
  const { createPrometheusMetrics } = await import('./prometheus.ts');
  return createPrometheusMetrics();
}
