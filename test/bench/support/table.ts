import { availableParallelism } from 'node:os';
import { watchOthers } from './measure.ts';
import { benchOptions, type BenchOptions } from './options.ts';

/** A measured value, and what it is held against. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly against: string;
  readonly ratio: number;
  readonly goal?: string;
}

export const milliseconds = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Runs benchmarks one after the other and prints their rows as one table. */
export async function runBenchmarks(benchmarks: readonly ((options: BenchOptions) => Promise<Row[]>)[]): Promise<void> {
  const options = benchOptions();
  const others = watchOthers();
  const rows: Row[] = [];
  for (const bench of benchmarks) rows.push(...(await bench(options)));
  const { model, rounds, slots, threads } = options;
  const percent = (others() * 100).toFixed(0);
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} cores; other programs took ${percent} % of them`,
  );
  console.log(`model ${model}, ${slots} x ${threads} threads, ${rounds} rounds; medians where nothing else is said\n`);
  printTable(rows);
}

function printTable(rows: readonly Row[]): void {
  const lines = [
    ['', 'measured', 'against', 'ratio', 'goal'],
    ...rows.map(({ what, measured, against, ratio, goal = '' }) => [what, measured, against, ratio.toFixed(3), goal]),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  for (const line of lines) console.log(line.map(pad).join('  ').trimEnd());
}
