/** The cost of assembling a tool call or reasoning that arrives in 60,000 parts, compared with parsing their JSON. */
import { createCallParts } from '../engines/llm-agent/call-parts.ts';
import { createReasoningDetails } from '../engines/llm-agent/reasoning-details.ts';
import { callKinds, many, pieces, reasoningKinds, type Part } from '../test/engines/llm-agent/part-kinds.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

type Work = (parts: readonly Part[]) => unknown;

export async function benchParts(): Promise<Row[]> {
  const calls = Object.values(callKinds).map((kind) => costs(pieces(many).map(kind), putTogether));
  const reasoning = Object.values(reasoningKinds).map(({ pieceOf }) =>
    costs(
      Array.from({ length: many }, (_, at) => pieceOf(at)),
      putReasoningTogether,
    ),
  );
  return Promise.resolve([
    worst('a tool call in 60,000 parts, processor time to put it together (the slowest of four kinds)', calls),
    worst('  the same of reasoning', reasoning),
  ]);
}

const putTogether: Work = (parts) => {
  const calls = createCallParts(() => 'own', new Set(['echo']));
  for (const part of parts) calls.add(part);
  return calls.calls();
};

const putReasoningTogether: Work = (parts) => {
  const details = createReasoningDetails();
  for (const part of parts) details.add(part);
  return details.blocks();
};

interface Costs {
  readonly workMs: number;
  readonly readingMs: number;
}

function costs(parts: readonly Part[], work: Work): Costs {
  const lines = parts.map((part) => JSON.stringify(part));
  const readingMs = fastest(() => lines.forEach((line) => JSON.parse(line) as unknown));
  return { workMs: fastest(() => work(parts)), readingMs };
}

/** Processor time of this thread in milliseconds: the best of three runs. */
function fastest(work: () => unknown): number {
  const runs = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}

/**
 * Assembling costs about as much as parsing. If it grew with the square of the number of parts, it would cost some
 * hundred times as much.
 */
function worst(what: string, all: readonly Costs[]): Row {
  const ratioOf = ({ workMs, readingMs }: Costs) => workMs / readingMs;
  const slowest = all.toSorted((a, b) => ratioOf(b) - ratioOf(a))[0]!;
  return {
    what,
    measured: milliseconds(slowest.workMs),
    against: `${milliseconds(slowest.readingMs)} JSON.parse`,
    ratio: ratioOf(slowest),
    goal: { atMost: 40 },
  };
}

if (import.meta.main) await runBenchmarks([benchParts]);
