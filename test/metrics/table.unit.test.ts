/** The table of metrics: its rules, and deploy/alerts.yaml on it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bounded, methodLabel, routeLabel } from '../../src/metrics/labels.ts';
import { metricsTable } from '../../src/metrics/table.ts';

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const rows: readonly Row[] = Object.values(metricsTable);

describe('the table of metrics', () => {
  it('has each name once, in the spelling of Prometheus', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { name } of rows) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  });

  it('has counters that end in _total, and nothing else that does', () => {
    for (const { name, type } of rows) expect(name.endsWith('_total'), name).toBe(type === 'counter');
  });

  it('has buckets that rise, for histograms only', () => {
    for (const { name, type, buckets = [] } of rows) {
      expect(buckets.length > 0, name).toBe(type === 'histogram');
      expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    }
  });

  it('has keys on counters only, and no label that callers fill', () => {
    const free = /^(id|request_id|address|caller|voice|language|clip|user_agent|path|url)$/;
    for (const { name, type, labels } of rows) {
      expect(labels.filter((label) => free.test(label))).toEqual([]);
      if (labels.includes('key')) expect(type, name).toBe('counter');
    }
  });
});

describe('label values', () => {
  it('methods beyond RFC 9110 and PATCH are _OTHER', () => {
    expect(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH'].map(methodLabel)).toEqual(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH']); // prettier-ignore
    expect(['PROPFIND', 'get', '', 'XYZ'].map(methodLabel)).toEqual(['_OTHER', '_OTHER', '_OTHER', '_OTHER']);
  });

  it('paths without an operation are unmatched', () => {
    expect([routeLabel('/api/v1/chat'), routeLabel(undefined)]).toEqual(['/api/v1/chat', 'unmatched']);
  });

  it('names from outside become other once there are too many, and the first ones are kept', () => {
    const label = bounded(2);
    expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
  });
});

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

describe('deploy/alerts.yaml', () => {
  const source = readFileSync(join(import.meta.dirname, '../../deploy/alerts.yaml'), 'utf8');
  const rules = (parse(source) as Alerts).groups.flatMap((group) => group.rules);

  it('has seven rules', () => {
    expect(rules.map(({ alert }) => alert)).toHaveLength(7);
  });

  it.each(rules)('$alert is about a metric and labels of the table', ({ expr }) => {
    const names = expr.match(/\b(?:http|gen_ai|parlance)_\w+/g) ?? [];
    const known = rows.flatMap(({ name, type }) => [
      name,
      ...(type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : []),
    ]);
    const labels = new Set(rows.flatMap((row) => row.labels));
    const unknown = names.filter((name) => !known.includes(name) && !labels.has(name));
    expect(unknown).toEqual([]);
    const used = names.filter((name) => known.includes(name));
    expect(used.length).toBeGreaterThan(0);
    const own = new Set(
      rows.filter(({ name }) => used.some((one) => one.startsWith(name))).flatMap((row) => row.labels),
    );
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
    expect(grouped.filter((label) => !['job', 'instance', 'le'].includes(label) && !own.has(label))).toEqual([]);
  });
});
