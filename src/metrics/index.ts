/** The metrics of the service, where METRICS_PORT is set. */
import type { PrometheusMetrics } from './prometheus.ts';

/** Undefined where they are off: nothing is loaded then, since prom-client takes 20 ms and 5 MB. */
export async function openMetrics(port: number | undefined): Promise<PrometheusMetrics | undefined> {
  if (port === undefined) return undefined;
  const { createPrometheusMetrics } = await import('./prometheus.ts');
  return createPrometheusMetrics();
}
