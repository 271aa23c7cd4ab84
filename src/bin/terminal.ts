/**
 * The operator's terminal: whole lines, with the progress below them. Only this file draws and clears the progress, so
 * all output of commands and the log must pass through it.
 */
import { styleText } from 'node:util';
import { ignore } from '../../lib/errors.ts';

type Style = 'dim' | 'bold' | 'green' | 'yellow' | 'red';

/** Styles a text if the stream supports colors. FORCE_COLOR overrides this; without it, NO_COLOR and TERM=dumb do. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  readonly stream: NodeJS.WriteStream;
  /**
   * False for a stream that is not a terminal, and for a terminal that cannot erase a line. Progress is then printed as
   * lines.
   */
  readonly canRedraw: boolean;
  readonly paint: Paint;
  /** Writes whole lines, unchanged, above the progress display; by default to the terminal's own stream. */
  write(text: string, to?: NodeJS.WriteStream): void;
  /** Like `write`, but for untrusted text: escapes control characters and appends a line feed. */
  print(text: string): void;
  /** Shows the lines that `draw` returns, each at most `columns` wide, until called without a function. */
  showProgress(draw?: (columns: number) => readonly string[]): void;
}

const eraseLine = '\r\x1b[2K';
const lineUp = '\x1b[1A';
/** The width to assume if the terminal does not report one. */
const defaultColumns = 80;

export function createTerminal(stream: NodeJS.WriteStream = process.stderr, env = process.env): Terminal {
  const canRedraw = stream.isTTY && env.TERM !== 'dumb';
  let draw: ((columns: number) => readonly string[]) | undefined;
  let drawn: readonly string[] = [];

  /** Writes everything at once, so that no other output appears in between. */
  function write(text: string, to: NodeJS.WriteStream = stream): void {
    const erased = drawn.map(() => eraseLine).join(lineUp);
    drawn = draw && canRedraw ? draw((stream.columns || defaultColumns) - 1) : []; // the last column would wrap
    to.write(`${erased}${text}${drawn.join('\n')}`);
  }

  stream.on('error', ignore); // a closed terminal must not end the service
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
 * Characters that could move the cursor, change the title or hide text (C0 and C1 controls except the line feed), and
 * marks that reorder text. U+009B alone starts an escape sequence.
 */
// eslint-disable-next-line no-control-regex
const invisible = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes these characters in a text from a program, provider, caller or third-party engine. */
export function visible(text: string): string {
  return text.replace(invisible, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
