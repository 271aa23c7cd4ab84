/** Lets the engines download and build what they need, and shows the progress at the terminal. */
import type { Logger } from '../../engines/contract/index.ts';
import type { Registry, WantedPreparations } from '../engine-host/registry.ts';

export interface PrepareOptions extends WantedPreparations {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** For the progress; on a terminal, each line replaces the previous one. */
  readonly terminal: NodeJS.WriteStream;
  /** The operator has asked for it. */
  readonly isAsked?: boolean;
  /** All engines that prepare something are at it. */
  readonly onBegun?: () => void;
}

/** True if nothing failed. A failure is logged and shown at the terminal, and does not stop the other engines. */
export async function prepareEngines(
  registry: Registry,
  { signal, log, terminal, isAsked = false, ...wanted }: PrepareOptions,
): Promise<boolean> {
  const bar = progressBar(terminal);
  const outcomes = await registry.prepare({ signal, progress: bar.show, isAsked }, wanted);
  bar.end();
  if (signal.aborted) terminal.write(`${describeInterruption(bar.unfinished())}\n`);
  signal.throwIfAborted();
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as Error);
  for (const error of failures) {
    log.warn({ err: error }, 'an engine could not be prepared');
    terminal.write(`${error.message}\n`);
  }
  return failures.length === 0;
}

function describeInterruption(steps: readonly string[]): string {
  if (steps.length === 0) return 'Interrupted.';
  return `Interrupted. Not finished: ${steps.join(', ')}. The next start or setup resumes a download, and begins a build again.`;
}

const barWidth = 24;

/** On a terminal, one line that is redrawn; elsewhere, a line per tenth of each step. Two steps may run in parallel. */
function progressBar(terminal: NodeJS.WriteStream) {
  const shown = new Map<string, string>();
  const unfinished = new Set<string>();
  return {
    show: (step: string, fraction: number | null): void => {
      const done = fraction ?? 0;
      if (done < 1) unfinished.add(step);
      else unfinished.delete(step);
      const filled = Math.round(done * barWidth);
      const percent = fraction === null ? '' : ` ${String(Math.floor(done * 100)).padStart(3)} %`;
      const line = `${step} [${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]${percent}`;
      const mark = terminal.isTTY ? line : String(Math.floor(done * 10));
      if (shown.get(step) === mark) return;
      shown.set(step, mark);
      terminal.write(terminal.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
    },
    unfinished: () => [...unfinished],
    end: (): void => {
      if (terminal.isTTY && shown.size > 0) terminal.write('\n');
    },
  };
}
