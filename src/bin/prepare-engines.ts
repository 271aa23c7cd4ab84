/** Lets the engines download and build what they need: says what comes first, and shows the progress at the terminal. */
import type { Capability, Logger, Preparation } from '../../engines/contract/index.ts';
import { mebibytes } from '../engine-host/resident/memory-plan.ts';
import { isWanted, type Registry, type WantedPreparations } from '../engine-host/registry.ts';
import { createProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface PrepareOptions extends WantedPreparations {
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly terminal: Terminal;
  /** How to stop it, and what turns it off: the last line before it begins. */
  readonly howToStop: string;
  /** The operator has asked for it. */
  readonly isAsked?: boolean;
  /** All engines that prepare something are at it. */
  readonly onBegun?: () => void;
}

/** True if nothing failed. A failure is logged and shown at the terminal, and does not stop the other engines. */
export async function prepareEngines(
  registry: Registry,
  { signal, log, terminal, howToStop, isAsked = false, onBegun, ...wanted }: PrepareOptions,
): Promise<boolean> {
  const missing = await missingParts(registry, wanted);
  if (missing.length > 0) terminal.print(['Preparing:', ...missing.map(describePart), `  ${howToStop}`].join('\n'));
  const progress = createProgress(terminal);
  const outcomes = await registry.prepare({ signal, progress: progress.show, isAsked }, { ...wanted, onBegun });
  progress.end();
  if (signal.aborted) terminal.print(describeInterruption(progress.unfinished()));
  signal.throwIfAborted();
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as Error);
  for (const error of failures) {
    log.warn({ err: error }, 'an engine could not be prepared');
    terminal.print(error.message);
  }
  return failures.length === 0;
}

interface Part {
  readonly capability: Capability;
  readonly preparation: Preparation;
}

/** What will be fetched and built. An engine that does not list its parts says nothing of them. */
async function missingParts(registry: Registry, wanted: WantedPreparations): Promise<Part[]> {
  const listed = await registry.preparations();
  return listed
    .filter(({ capability }) => !(wanted.withoutTranscription && capability === 'transcription'))
    .flatMap(({ capability, list }) => list.map((preparation) => ({ capability, preparation })))
    .filter(({ preparation }) => preparation.state !== 'ready' && isWanted(preparation, wanted));
}

function describePart({ capability, preparation: { title, bytes, licence, source } }: Part): string {
  const facts = [
    ...(bytes === null || bytes === 0 ? [] : [mebibytes(bytes)]),
    ...(source === undefined ? [] : [`from ${source}`]),
    `licence ${licence}`,
  ];
  return `  ${capability.padEnd(14)} ${title}: ${facts.join(', ')}`;
}

function describeInterruption(steps: readonly string[]): string {
  if (steps.length === 0) return 'Interrupted.';
  return `Interrupted. Not finished: ${steps.join(', ')}. The next start or setup goes on where it stopped.`;
}
