/** Reads what a service under test serves at METRICS_PORT. */
import type { TestService } from '../support/service.ts';

/** By name and labels as they stand in the text: `parlance_clips`, `parlance_queue_slots{engine="a"}`. */
export type Series = ReadonlyMap<string, number>;

export function metricsUrl({ service: { metricsUrl } }: Pick<TestService, 'service'>): string {
  if (metricsUrl === undefined) throw new Error('the service was started without METRICS_PORT');
  return metricsUrl;
}

export async function scrape(service: Pick<TestService, 'service'>): Promise<string> {
  return (await fetch(metricsUrl(service))).text();
}

/** Without those of the process, whose number Node determines. */
export async function readSeries(service: Pick<TestService, 'service'>): Promise<Series> {
  return parse(await scrape(service));
}

/** The metrics at this address. */
export async function seriesOf(url: string): Promise<Series> {
  return parse(await (await fetch(url)).text());
}

function parse(text: string): Series {
  const lines = text.split('\n').filter((line) => line !== '' && !/^(#|nodejs_|process_)/.test(line));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

/** Those of one metric that have these labels, and any others; with their sum. */
export function find(series: Series, name: string, labels: Readonly<Record<string, string>> = {}) {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const found = [...series].filter(([text]) => {
    const [, own, inside = ''] = /^(\w+)(?:\{(.*)\})?$/s.exec(text) ?? [];
    return own === name && wanted.every((label) => inside.split(/,(?=\w+=)/).includes(label));
  });
  return { count: found.length, sum: found.reduce((sum, [, value]) => sum + value, 0) };
}
