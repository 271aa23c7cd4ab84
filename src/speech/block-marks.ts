/** Recognizes Markdown block marks in a line. Pure, in linear time. */
import { startsWithEmoji } from './emoji.ts';
import { labelOf } from './inline-marks.ts';
import { isSpoken } from './pauses.ts';

export interface Line {
  /** The line without its block marks. List numbers stay, because "1. April" may be a date. */
  readonly rest: string;
  /** Nesting depth of block quotes. */
  readonly quotes: number;
  /** `numbered` means that the line may be a list item or begin with a date. */
  readonly kind: 'text' | 'item' | 'numbered' | 'heading';
}

/**
 * Matches a quote, an alert (the rest of its line is a heading), a bullet (including plain-text ones), or a heading. In
 * "– 5", the dash is a minus sign.
 */
const mark = /\s*(?:(>)|(\[!\w{1,30}\])[-+]?(?=\s|$)|(?:[-*+•◦‣⁃▪▫●○∙·]|[–—](?!\s*\p{N}))(?=\s)|(#{1,6})(?=\s))/uy;

export function readLine(line: string): Line {
  let [end, quotes, isItem, isHeading] = [0, 0, false, false];
  mark.lastIndex = 0;
  for (let found = mark.exec(line); found; found = mark.exec(line)) {
    end = mark.lastIndex;
    const [, quote, alert, heading] = found;
    if (quote !== undefined) quotes += 1;
    isHeading ||= (alert ?? heading) !== undefined;
    isItem ||= (quote ?? alert ?? heading) === undefined;
  }
  const rest = end === 0 ? line : withoutCheckbox(line.slice(end).trimStart());
  if (isHeading) return { rest: rest.replace(/\s#+\s*$/, ''), quotes, kind: 'heading' };
  return { rest, quotes, kind: isItem || startsWithEmoji(rest) ? 'item' : kindOf(rest) };
}

const withoutCheckbox = (item: string): string => item.replace(/^\[[ xX]\](?=\s)/, '');

/** Matches list numbers: `1.`, `2)`, `(3)`, `[4]`, `b)`, `①`, and `一、` in Chinese. */
const number =
  /^\s*(?:\(?\p{Nd}{1,3}(?:[.)](?=\s)|[、．）])|\[\d{1,3}\]\s|\(?[a-z]\)\s|[①-⑳]|[一二三四五六七八九十]{1,3}[、．])/iu;

/** Chat models write headings as lines of bold text. */
const boldLine = /^\s*(\*\*|__)(?=\S)(?:(?!\1).)*\S\1:?\s*$/;

function kindOf(rest: string): Line['kind'] {
  if (number.test(rest)) return 'numbered';
  return boldLine.test(rest) ? 'heading' : 'text';
}

/** Whether the line continues the item above it: it is indented or begins with a lowercase letter. */
export const continuesItem = (line = ''): boolean => /^(?:\s*>)*(?:\s{2,}\S|\p{Ll})/u.test(line);

/**
 * Returns the line without its line break mark (two spaces or a backslash); undefined if it has none. Paths may also
 * end with a backslash.
 */
export function withoutLineBreak(line: string): string | undefined {
  const end = line.slice(-100);
  if (/\S(?: {2,}|\t+)\r?$/.test(end)) return line.trimEnd();
  return /(?<=\s|^)[^\s\\:]+\\\r?$/.test(end) ? line.trimEnd().slice(0, -1) : undefined;
}

/** Whether the line is a thematic break, the underline of a heading, or a container mark (`:::note`). */
export function isRule(line: string): boolean {
  if (/^\s*:{3,}[\w\s{}="'.-]{0,100}$/.test(line)) return true;
  return /^\s*[-*_=]/.test(line) && /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(line.replace(/\s/g, ''));
}

/** Returns the label of the link or footnote that the line defines. */
export function definedLabel(line: string): string | undefined {
  const [, label] =
    /^ {0,3}\[([^[\]]{1,100})\]:\s*(?:(?:[a-z][a-z+.-]*:|[./#])\S+|<[^<>]*>)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$/i.exec(
      line,
    ) ??
    /^ {0,3}\[(\^[^\s[\]]{1,50})\]:/.exec(line) ??
    [];
  return label === undefined ? undefined : labelOf(label);
}

// ------------------------------------------------------------------------------------------------------------ math

/**
 * Finds the start of display math: delimiters on lines of their own, or an environment. Unclosed math extends to the
 * end of the text.
 */
export function startOfMath(line: string): { readonly length: number; readonly end: string } | undefined {
  const [mark, delimiter, environment = ''] =
    /^\s*(?:(\$\$(?=\s*$)|\\\[(?!.*\\\]))|\\begin\{([a-z]+\*?)\})/i.exec(line) ?? [];
  if (mark === undefined) return undefined;
  if (delimiter === undefined) return { length: mark.length, end: `\\end{${environment}}` };
  return { length: mark.length, end: delimiter === '$$' ? '$$' : '\\]' };
}

// ---------------------------------------------------------------------------------------------------------- tables

export function isDelimiterRow(line = ''): boolean {
  return line.includes('|') && /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(line);
}

/** Whether the line is a table row even without the rest of its table, because apps send texts in pieces. */
export function isRowAlone(line: string): boolean {
  const row = line.trim();
  return row.length > 1 && row.startsWith('|') && row.endsWith('|') && cellsOf(row).filter(isSpoken).length > 1;
}

export const cellsOf = (row: string): string[] => row.split('|');
