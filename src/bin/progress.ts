/** Steps that take a while: bars in the last line of a terminal, and a line per tenth elsewhere. Steps may run in parallel. */
import { describeDuration } from './log-lines.ts';
import { visible, type Terminal } from './terminal.ts';

export interface Progress {
  /** A fraction, or null while the total is unknown; 1 ends the step. */
  readonly show: (step: string, fraction: number | null) => void;
  /** Steps that have begun and not ended. */
  unfinished(): string[];
  /** Clears the bars. */
  end(): void;
}

interface Step {
  readonly name: string;
  readonly begun: number;
  done: number | null;
  /** What was last written of it. */
  shown: string | undefined;
}

const widestBar = 24;
/** Narrower bars show nothing that the percentage does not. */
const narrowestBar = 5;
const percentWidth = ' 100 %'.length;
const gap = '  ';

export function createProgress(terminal: Terminal): Progress {
  const steps = new Map<string, Step>();

  function show(text: string, fraction: number | null): void {
    const name = visible(text).replaceAll('\n', ' ');
    const step = steps.get(name) ?? { name, begun: performance.now(), done: null, shown: undefined };
    if (fraction === 1) finish(step);
    else {
      steps.set(name, Object.assign(step, { done: fraction }));
      redraw(step);
    }
  }

  function redraw(step: Step): void {
    const { name, done, shown } = step;
    step.shown = terminal.canRedraw ? percentOf(done) : String(Math.floor((done ?? 0) * 10));
    if (step.shown === shown) return;
    if (terminal.canRedraw) terminal.showProgress((columns) => draw([...steps.values()], columns));
    else terminal.write(`${name} ${bar(done, widestBar)}${percentOf(done)}\n`);
  }

  function finish({ name, begun }: Step): void {
    if (!steps.delete(name)) return; // reported twice, or never begun
    if (steps.size === 0) terminal.showProgress();
    terminal.write(`${name}: done in ${describeDuration(performance.now() - begun)}\n`);
  }

  return {
    show,
    unfinished: () => [...steps.keys()],
    end: () => terminal.showProgress(),
  };
}

/** All steps in one line, with bars as wide as there is room for. */
function draw(steps: readonly Step[], columns: number): string {
  const room = Math.floor(columns / steps.length) - gap.length;
  return cut(
    steps
      .map(({ name, done }) => {
        const left = room - widthOf(name) - percentWidth - ' []'.length;
        const wide = Math.min(widestBar, left);
        return `${name}${wide < narrowestBar ? '' : ` ${bar(done, wide)}`}${percentOf(done)}`;
      })
      .join(gap),
    columns,
  );
}

function bar(done: number | null, width: number): string {
  const filled = Math.round((done ?? 0) * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
}

const percentOf = (done: number | null) => (done === null ? '' : ` ${String(Math.floor(done * 100)).padStart(3)} %`);

/** Columns at most: what is not ASCII may take two. */
const widthOf = (text: string) => Array.from(text, widthOfChar).reduce((sum, width) => sum + width, 0);
const widthOfChar = (char: string) => (char <= '~' ? 1 : 2);

function cut(text: string, columns: number): string {
  let left = columns;
  return Array.from(text)
    .filter((char) => (left -= widthOfChar(char)) >= 0)
    .join('');
}
