import { Histogram as OfPromClient, Registry, type Metric } from 'prom-client';
import { expect, it } from 'vitest';
import { Histogram } from '../../src/metrics/histogram.ts';

const row = { name: 'wait_seconds', help: 'Seconds.', labels: ['engine', 'status'], buckets: [0.1, 1, 10] } as const;

const observations = [
  [{ engine: 'a', status: 200 }, 0.05],
  [{ engine: 'a', status: 200 }, 0.1],
  [{ engine: 'b', status: 500 }, 3],
  [{ engine: 'a', status: 200 }, 11],
  [{ engine: '', status: 0 }, 0],
] as const;

const sorted = (text: string) => text.trim().split('\n').toSorted();

it('writes what a histogram of prom-client does', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const own = new Histogram(row);
  ours.registerMetric(own as unknown as Metric);
  const { name, help, labels: labelNames } = row;
  const other = new OfPromClient({ name, help, labelNames, buckets: [...row.buckets], registers: [theirs] });
  for (const [labels, value] of observations) {
    own.observe(labels, value);
    other.observe(labels, value);
  }
  expect(sorted(await ours.metrics())).toEqual(sorted(await theirs.metrics()));
});
