import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { format } from 'prettier';
import { findProgram, run } from '../../test/support/programs.ts';
import { watchOthers } from './measure.ts';
import { benchOptions, type BenchOptions } from './options.ts';

/** A measured value, and what it is held against. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly against: string;
  readonly ratio: number;
  readonly goal?: Goal;
}

/** `{ atMost: 1.1 }` is about the ratio of the row, `{ atMost: 250, value: 190, unit: 'MB' }` about the value. */
export type Goal = ({ readonly atMost: number } | { readonly atLeast: number }) & {
  readonly value?: number;
  readonly unit?: string;
};

/** Times vary by this share from run to run on a machine that others use, too: only more is a miss. */
const tolerance = 0.2;

function misses({ ratio, goal }: Row): boolean {
  if (!goal) return false;
  const { value = ratio } = goal;
  if (!Number.isFinite(value)) return true;
  return 'atMost' in goal ? value > goal.atMost * (1 + tolerance) : value < goal.atLeast / (1 + tolerance);
}

function textOf(goal: Goal | undefined): string {
  if (!goal) return '';
  const limit = 'atMost' in goal ? `<= ${goal.atMost}` : `>= ${goal.atLeast}`;
  return goal.unit === undefined ? limit : `${limit} ${goal.unit}`;
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
  const facts = [
    `Node ${process.versions.node}, ${availableParallelism()} cores; other programs took ${percent} % of them (a loaded model counts as one)`,
    `model ${model}, ${slots} x ${threads} threads, ${rounds} rounds; medians where nothing else is said`,
  ];
  console.log(`${facts.join('\n')}\n`);
  printTable(rows);
  if (options.write) await writePage(rows, facts);
  const missed = rows.filter(misses);
  if (missed.length === 0) return;
  console.error(`\nMissed by more than 20 %: ${missed.map(({ what }) => what.trim()).join('; ')}`);
  process.exitCode = 1;
}

const page = join(import.meta.dirname, '../../docs/benchmarks.md');

/** For readers who have not run them. */
async function writePage(rows: readonly Row[], facts: readonly string[]): Promise<void> {
  const cells = rows.map(({ what, measured, against, ratio, goal }) => [
    what,
    measured,
    against,
    ratio.toFixed(2),
    textOf(goal),
  ]);
  const text = [
    '# Benchmarks',
    'Written by `npm run bench -- --write`. Times are those of one machine; the ratios are what lasts. Each row was measured against its peer or floor in the same run, in alternation. No model could be downloaded where this was run: the models are made by the tests, and cost what real ones of that shape cost.',
    [
      `- ${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model ?? 'unknown processor'}`,
      ...facts,
      ...(await versions()),
    ].join('\n- '),
    [
      '| what | measured | against | ratio | goal |',
      '| --- | --- | --- | --- | --- |',
      ...cells.map((row) => `| ${row.map((cell) => cell.trim().replaceAll('|', '\\|')).join(' | ')} |`),
    ].join('\n'),
  ];
  await writeFile(page, await format(`${text.join('\n\n')}\n`, { parser: 'markdown' }));
}

async function versions(): Promise<string[]> {
  const flags = { 'whisper-cli': '--version', ffmpeg: '-version', 'espeak-ng': '--version' };
  const said = Object.entries(flags).map(async ([name, flag]) => {
    const path = findProgram(name);
    if (path === undefined) return `${name}: none`;
    const [version = 'unknown'] = /\d+[.\d]+/.exec(await run(path, [flag]).catch(() => '')) ?? [];
    return `${name} ${version}`;
  });
  return Promise.all(said);
}

function printTable(rows: readonly Row[]): void {
  const lines = [
    ['', 'measured', 'against', 'ratio', 'goal'],
    ...rows.map(({ what, measured, against, ratio, goal }) => [
      what,
      measured,
      against,
      ratio.toFixed(3),
      textOf(goal),
    ]),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  for (const line of lines) console.log(line.map(pad).join('  ').trimEnd());
}
