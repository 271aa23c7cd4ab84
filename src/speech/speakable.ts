/**
 * Prepares a text for speech: removes the marks of Markdown, HTML and LaTeX, reasoning, code, addresses and emoji, and
 * replaces styled letters by plain ones. Pure, in linear time.
 */
import { closedElements } from './html.ts';
import { labelOf, withoutInlineMarks, type Definitions } from './inline-marks.ts';
import { plainLetters } from './letters.ts';
import { saidOfMath } from './math.ts';
import { withoutSilentElements } from './silent-elements.ts';

/** Returns plain text unchanged, and "" if nothing is left to say. */
export function speakable(text: string): string {
  const plain = plainLetters(text);
  const visible = withoutSilentElements(plain);
  const lines = visible.split('\n');
  const labels = new Set(lines.flatMap((line) => definedLabel(line) ?? []));
  const said = speakableLines(lines, { labels, elements: closedElements(visible) }).join('\n');
  const spoken = said === plain ? said : said.trim();
  return /[\p{L}\p{N}\p{S}]/u.test(spoken) ? spoken : '';
}

function* linesOf(
  lines: readonly string[],
  definitions: Definitions,
): Generator<readonly [line: string, spoken: string]> {
  let fence: Fence | undefined;
  let mathEnd: string | undefined;
  let isTable = false;
  const said = (words: string) => withoutEmoji(withoutInlineMarks(words, definitions));
  for (const [at, line] of lines.entries()) {
    if (fence) {
      if (closes(fence, line)) fence = undefined;
      continue;
    }
    const rest = withoutBlockMarks(line);
    const math = mathEnd === undefined ? startOfMath(rest) : { length: 0, end: mathEnd };
    if (math) {
      const end = rest.indexOf(math.end, math.length);
      mathEnd = end < 0 ? math.end : undefined;
      const [inside, after] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end + math.end.length)];
      yield [line, saidOfMath(inside.slice(math.length)) + said(after)];
      continue;
    }
    fence = fenceOf(rest);
    if (fence) continue;
    isTable = line.includes('|') && (isTable || isDelimiterRow(lines[at + 1]));
    if (isRule(line) || (isTable && isDelimiterRow(line)) || definedLabel(rest) !== undefined) continue;
    yield [line, isTable ? cellsOf(line, said).join(', ') : said(rest)];
  }
}

function speakableLines(lines: readonly string[], definitions: Definitions): string[] {
  const spoken: string[] = [];
  for (const [line, words] of linesOf(lines, definitions)) {
    const tidy = words === line ? line : tidied(words);
    if (words === line || tidy !== '') spoken.push(tidy);
  }
  return spoken;
}

/** Trims each line; there may be several, since some tags become line ends. */
function tidied(words: string): string {
  const lines = words.split('\n').map((line) => line.replace(/ {2,}/g, ' ').trim());
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

// ---------------------------------------------------------------------------------------------------------- blocks

/** Returns the label of the link or footnote that the line defines. */
function definedLabel(line: string): string | undefined {
  const [, label] =
    /^ {0,3}\[([^[\]]{1,100})\]:\s*(?:(?:[a-z][a-z+.-]*:|[./#])\S+|<[^<>]*>)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$/i.exec(
      line,
    ) ??
    /^ {0,3}\[(\^[^\s[\]]{1,50})\]:/.exec(line) ??
    [];
  return label === undefined ? undefined : labelOf(label);
}

/** Finds display math: its delimiters have lines of their own, or it is an environment. Unclosed math lasts to the end. */
function startOfMath(line: string): { readonly length: number; readonly end: string } | undefined {
  const [mark, delimiter, environment = ''] =
    /^\s*(?:(\$\$(?=\s*$)|\\\[(?!.*\\\]))|\\begin\{([a-z]+\*?)\})/i.exec(line) ?? [];
  if (mark === undefined) return undefined;
  if (delimiter === undefined) return { length: mark.length, end: `\\end{${environment}}` };
  return { length: mark.length, end: delimiter === '$$' ? '$$' : '\\]' };
}

interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** An unclosed fence lasts to the end of the text: apps send texts in pieces, and answers may be cut within code. */
function fenceOf(line: string): Fence | undefined {
  const [, run] = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
  return run === undefined ? undefined : { mark: run.charAt(0), length: run.length };
}

function closes({ mark, length }: Fence, line: string): boolean {
  const [, run] = /^[\s>]*(`+|~+)\s*$/.exec(line) ?? [];
  return run !== undefined && run.startsWith(mark) && run.length >= length;
}

/** Removes the marks of quotes, lists and headings. The numbers of lists stay, since "1. April" may be a date. */
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

/** Whether the line is a thematic break, or underlines a heading. */
function isRule(line: string): boolean {
  return /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(line.replace(/\s/g, ''));
}

function isDelimiterRow(line = ''): boolean {
  return line.includes('|') && /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(line);
}

function cellsOf(row: string, said: (words: string) => string): string[] {
  const cells = row.split('|').map((cell) => said(cell).trim());
  return cells.filter((cell) => cell !== '');
}

// ----------------------------------------------------------------------------------------------------------- emoji

/** Text signs among the pictographs, such as `©`, `™` and `↔`, only count if a selector makes them emoji. */
const sign = String.raw`(?:[[\p{Extended_Pictographic}\p{Emoji_Modifier}]&&[\p{Emoji_Presentation}\u2600-\u27bf\u{1f000}-\u{1ffff}]]\ufe0f?|[\p{Extended_Pictographic}--[©®™]]\ufe0f)`;
const person = String.raw`${sign}\p{Emoji_Modifier}?[\u{e0020}-\u{e007f}]*`;
const keycap = String.raw`[0-9#*]\ufe0f?\u20e3`;
const flag = String.raw`\p{Regional_Indicator}{1,2}`;
const emoji = new RegExp(` ?(?:${keycap}|${flag}|${person}(?:\\u200d${person})*)`, 'gv');

function withoutEmoji(text: string): string {
  return text.replace(emoji, '');
}
