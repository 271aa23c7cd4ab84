/**
 * The operator's terminal: whole lines, and below them those of progress, which only this file draws and clears. All
 * that the commands and the log write while something is in progress goes through here.
 */
import { styleText } from 'node:util';
import { ignore } from '../../lib/ignore.ts';

type Style = 'dim' | 'bold' | 'green' | 'yellow' | 'red';

/** Text in a style, where the stream has colours: NO_COLOR, FORCE_COLOR and TERM=dumb decide, in this order. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  readonly stream: NodeJS.WriteStream;
  /** False on what is no terminal, and on one that cannot erase a line: progress is then lines of their own. */
  readonly canRedraw: boolean;
  readonly paint: Paint;
  /** Writes whole lines, as they are, above the progress; by default to the terminal's own stream. */
  write(text: string, to?: NodeJS.WriteStream): void;
  /** The same for lines that may contain anything. */
  print(text: string): void;
  /** Draws the lines of progress, each in at most so many columns, until it is called without a function. */
  showProgress(draw?: (columns: number) => readonly string[]): void;
}

const eraseLine = '\r\x1b[2K';
const lineUp = '\x1b[1A';
/** Where the terminal does not say how wide it is. */
const usualColumns = 80;

export function createTerminal(stream: NodeJS.WriteStream = process.stderr, env = process.env): Terminal {
  const canRedraw = stream.isTTY && env.TERM !== 'dumb';
  let draw: ((columns: number) => readonly string[]) | undefined;
  let drawn: readonly string[] = [];

  /** One write, so that nothing else comes in between. */
  function write(text: string, to: NodeJS.WriteStream = stream): void {
    const erased = drawn.map(() => eraseLine).join(lineUp);
    drawn = draw && canRedraw ? draw((stream.columns || usualColumns) - 1) : []; // the last column would wrap
    to.write(`${erased}${text}${drawn.join('\n')}`);
  }

  stream.on('error', ignore); // a terminal that was closed must not end the service
  return {
    stream,
    canRedraw,
    paint: paintFor(stream),
    write,
    print: (text) => write(`${visible(text)}\n`),
    showProgress(next) {
      draw = next;
      if (canRedraw && (draw !== undefined || drawn.length > 0)) write('');
    },
  };
}

export function paintFor(stream: NodeJS.WriteStream): Paint {
  return (style, text) => (text === '' ? '' : styleText(style, text, { stream }));
}

/**
 * C0 and C1 controls but the line end, which could move the cursor, change the title or hide text, and marks that reorder
 * text. U+009B alone begins an escape sequence.
 */
// eslint-disable-next-line no-control-regex
const invisible = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text of programs, providers, callers and third-party engines, for a terminal: every control character is written out. */
export function visible(text: string): string {
  return text.replace(invisible, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
