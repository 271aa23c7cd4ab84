/** What is said of a text: Markdown without its marks, plain letters, no code, no addresses, no emoji. Pure, in linear time. */
import { withoutInlineMarks } from './inline-marks.ts';
import { plainLetters } from './letters.ts';

/** Plain text comes through unchanged. "" if nothing is left to say. */
export function speakable(text: string): string {
  const spoken = speakableLines(plainLetters(text).split('\n')).join('\n');
  return /[\p{L}\p{N}\p{S}]/u.test(spoken) ? spoken : '';
}

function* linesOf(lines: readonly string[]): Generator<readonly [line: string, spoken: string]> {
  let fence: Fence | undefined;
  let isTable = false;
  for (const [at, line] of lines.entries()) {
    if (fence) {
      if (closes(fence, line)) fence = undefined;
      continue;
    }
    const rest = withoutBlockMarks(line);
    fence = fenceOf(rest);
    if (fence) continue;
    isTable = line.includes('|') && (isTable || isDelimiterRow(lines[at + 1]));
    if (isRule(line) || (isTable && isDelimiterRow(line))) continue;
    yield [line, isTable ? cellsOf(line).join(', ') : withoutEmoji(withoutInlineMarks(rest))];
  }
}

function speakableLines(lines: readonly string[]): string[] {
  const spoken: string[] = [];
  for (const [line, words] of linesOf(lines)) {
    const tidy = words === line ? line : words.replace(/ {2,}/g, ' ').trim();
    if (words === line || tidy !== '') spoken.push(tidy);
  }
  return spoken;
}

// ---------------------------------------------------------------------------------------------------------- blocks

interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** An open one lasts to the end of the text. Apps send texts in pieces, and answers may be cut within code. */
function fenceOf(line: string): Fence | undefined {
  const [, run] = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
  return run === undefined ? undefined : { mark: run.charAt(0), length: run.length };
}

function closes({ mark, length }: Fence, line: string): boolean {
  const [, run] = /^[\s>]*(`+|~+)\s*$/.exec(line) ?? [];
  return run !== undefined && run.startsWith(mark) && run.length >= length;
}

/** Without the marks of quotes, lists and headings. Numbers of lists are words: "1. April". */
function withoutBlockMarks(line: string): string {
  const mark = /\s*(?:>|[-*+](?=\s)|(#{1,6})(?=\s))/y;
  let [end, isHeading] = [0, false];
  for (let found = mark.exec(line); found; found = mark.exec(line)) {
    end = mark.lastIndex;
    isHeading ||= found[1] !== undefined;
  }
  if (end === 0) return line;
  const rest = line
    .slice(end)
    .trimStart()
    .replace(/^\[[ xX]\](?=\s)/, '');
  return isHeading ? rest.replace(/\s#+\s*$/, '') : rest;
}

/** A line between paragraphs, or below a heading. */
function isRule(line: string): boolean {
  return /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(line.replace(/\s/g, ''));
}

function isDelimiterRow(line = ''): boolean {
  return line.includes('|') && /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(line);
}

function cellsOf(row: string): string[] {
  const cells = row.split('|').map((cell) => withoutEmoji(withoutInlineMarks(cell)).trim());
  return cells.filter((cell) => cell !== '');
}

// ----------------------------------------------------------------------------------------------------------- emoji

/** Not the text signs among the pictographs, such as `©`, `™` and `↔`, unless a selector makes them emoji. */
const sign = String.raw`(?:[[\p{Extended_Pictographic}\p{Emoji_Modifier}]&&[\p{Emoji_Presentation}\u2600-\u27bf\u{1f000}-\u{1ffff}]]\ufe0f?|[\p{Extended_Pictographic}--[©®™]]\ufe0f)`;
const person = String.raw`${sign}\p{Emoji_Modifier}?[\u{e0020}-\u{e007f}]*`;
const keycap = String.raw`[0-9#*]\ufe0f?\u20e3`;
const flag = String.raw`\p{Regional_Indicator}{1,2}`;
const emoji = new RegExp(` ?(?:${keycap}|${flag}|${person}(?:\\u200d${person})*)`, 'gv');

function withoutEmoji(text: string): string {
  return text.replace(emoji, '');
}
