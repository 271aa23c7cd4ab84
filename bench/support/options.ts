/** Command-line options of every benchmark. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { parrotShapes, type ParrotSize } from './parrot-model.ts';

export interface BenchOptions {
  readonly model: ParrotSize;
  /** Number of rounds. */
  readonly rounds: number;
  /** Concurrent transcriptions, and threads of each. */
  readonly slots: number;
  readonly threads: number;
  /** Write docs/benchmarks.md. */
  readonly write: boolean;
}

/** `--model tiny|base --rounds N --slots N --threads N --write`. Defaults to tiny and the service's own defaults. */
export function benchOptions(): BenchOptions {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { model: text, rounds: text, slots: text, threads: text, write: { type: 'boolean' } },
    allowPositionals: true, // names of benchmarks, for run.ts
  });
  const model = values.model ?? 'tiny';
  if (!isSize(model)) throw new Error(`--model is one of ${Object.keys(parrotShapes).join(', ')}`);
  const cores = availableParallelism();
  const slots = count(values.slots) ?? Math.max(1, Math.floor(cores / 2));
  const threads = count(values.threads) ?? Math.max(1, Math.floor(cores / slots));
  return { model, slots, threads, rounds: count(values.rounds) ?? 11, write: values.write ?? false };
}

const isSize = (name: string): name is ParrotSize => Object.hasOwn(parrotShapes, name);

function count(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`"${text}" is not a whole number from 1 on`);
  return value;
}
