/** Progress of long steps: on a terminal, one line per step at the bottom; elsewhere, a new line for every 10 %. */
import { describeDuration } from './log-lines.ts';
import { visible, type Terminal } from './terminal.ts';

export interface Progress {
  /** Shows the current work on a step and the completed fraction, which is null if unknown. */
  readonly show: (id: string, doing: string, done: number | null) => void;
  /** Ends a step and prints that it is done. */
  readonly finish: (id: string) => void;
  /** Ends a step without a message. */
  readonly drop: (id: string) => void;
  /** Returns descriptions of the steps in progress. */
  unfinished(): string[];
  /** Removes the progress lines. */
  end(): void;
}

interface ProgressBar {
  readonly begun: number;
  doing: string;
  done: number | null;
  /** The text that was last printed for the step. */
  shown: string | undefined;
}

const widestBar = 24;
/** Below this width, the bar is replaced by the percentage alone. */
const narrowestBar = 5;
const percentWidth = ' 100 %'.length;

export function createProgress(terminal: Terminal): Progress {
  const steps = new Map<string, ProgressBar>();

  function show(id: string, text: string, done: number | null): void {
    if (done === 1) return; // `finish` prints the completion
    const doing = visible(text).replaceAll('\n', ' ');
    const step = steps.get(id) ?? { begun: performance.now(), doing, done, shown: undefined };
    steps.set(id, Object.assign(step, { doing, done }));
    const { shown } = step;
    step.shown = `${doing}${terminal.canRedraw ? percentOf(done) : done === null ? '' : Math.floor(done * 10)}`;
    if (step.shown === shown) return;
    if (terminal.canRedraw) redraw();
    else terminal.write(`${doing}${done === null ? '' : ` ${bar(done, widestBar)}${percentOf(done)}`}\n`);
  }

  const redraw = () =>
    terminal.showProgress(
      steps.size === 0 ? undefined : (columns) => [...steps.values()].map((step) => draw(step, columns)),
    );

  function drop(id: string): void {
    if (steps.delete(id) && terminal.canRedraw) redraw();
  }

  return {
    show,
    drop,
    finish(id) {
      const step = steps.get(id);
      if (!step) return; // the asset was already installed
      drop(id);
      terminal.write(`${step.doing}: done in ${describeDuration(performance.now() - step.begun)}\n`);
    },
    unfinished: () => [...steps.values()].map(({ doing }) => doing),
    end: () => terminal.showProgress(),
  };
}

/** Draws a step, with a bar in the rest of the line. */
function draw({ doing, done }: ProgressBar, columns: number): string {
  if (done === null) return cut(doing, columns);
  const wide = Math.min(widestBar, columns - widthOf(doing) - percentWidth - ' []'.length);
  const rest = `${wide < narrowestBar ? '' : ` ${bar(done, wide)}`}${percentOf(done)}`;
  return cut(`${cut(doing, Math.max(0, columns - percentWidth))}${rest}`, columns);
}

function bar(done: number, width: number): string {
  const filled = Math.round(done * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
}

const percentOf = (done: number | null) => (done === null ? '' : ` ${String(Math.floor(done * 100)).padStart(3)} %`);

/** Maximum width in columns: characters beyond ASCII may take two. */
const widthOf = (text: string) => Array.from(text, widthOfChar).reduce((sum, width) => sum + width, 0);
const widthOfChar = (char: string) => (char <= '~' ? 1 : 2);

function cut(text: string, columns: number): string {
  let left = columns;
  return Array.from(text)
    .filter((char) => (left -= widthOfChar(char)) >= 0)
    .join('');
}
