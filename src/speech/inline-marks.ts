/** Removes complete Markdown, HTML and LaTeX marks within a line. Pure, in linear time. */
import { createFinder } from './finder.ts';
import { entity, saidOfEntity, saidOfTag, tag } from './html.ts';
import { isBetweenDollars, saidOfMath } from './math.ts';
import { endOfCitations, silentMark } from './model-marks.ts';

/** Names that are defined anywhere in the text. */
export interface Definitions {
  /** Labels of links and footnotes, as `labelOf` returns them. */
  readonly labels: ReadonlySet<string>;
  /** Names of elements that are not in HTML. */
  readonly elements: ReadonlySet<string>;
}

const marks = new RegExp(
  [
    /`+/, // code
    new RegExp(`(?<silent>${silentMark})`, 'u'),
    /<(?:https?:\/\/|mailto:)[^\s<>]*>|(?:https?:\/\/|(?<![\p{L}\p{N}])www\.)[^\s<>[\]`"]+/u, // an address
    tag,
    entity,
    /\[\^[^\s[\]^]{1,50}\^?\]/, // a footnote
    /!?\[|\]/,
    /\*+|_+|~~+/, // emphasis
    /\\[a-z]+(?:\{[^{}]*\})+/, // a LaTeX command
    /\\\S|\$+/, // an escaped character, math
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
);

/**
 * Code and emphasis keep their words, and links keep their text. Images, addresses and footnote marks are removed. A
 * line without such marks is returned unchanged.
 */
export function withoutInlineMarks(line: string, { labels, elements }: Definitions): string {
  const pieces: string[] = [];
  const code = createCodeFinder(line);
  const find = createFinder(line);
  const links = findLinks(line, labels);
  const unescape = createUnescape(line);
  const emphasize = createEmphasis(pieces);
  const isDefined = (label: string) => labels.has(label);
  let at = 0;
  marks.lastIndex = 0;
  for (let found = marks.exec(line); found; found = marks.exec(line)) {
    const { 0: mark, index } = found;
    pieces.push(line.slice(at, index));
    at = index + mark.length;
    const kind = mark.charAt(0);
    if (kind === '`') {
      const end = code(index, mark.length);
      pieces.push(end === undefined ? mark : line.slice(at, end));
      if (end !== undefined) at = end + mark.length;
    } else if (found.groups?.silent !== undefined) {
      at = withoutSpace(pieces, line, at);
    } else if (mark.startsWith('[^')) {
      if (!isFootnote(mark, line[index - 1], labels)) pieces.push(mark);
    } else if (kind === '!' || kind === '[' || kind === ']') {
      const end = links.get(at - 1);
      const isCited = end !== undefined && citedLink.test(line.slice(index, end));
      const citation = isCited ? end : kind === '[' ? endOfCitations(line, index, isDefined) : undefined;
      if (citation !== undefined) at = withoutSpace(pieces, line, withoutParentheses(pieces, line, citation));
      else if (end === undefined) pieces.push(mark);
      else if (kind !== '[') at = end;
    } else if (kind === '\\' || kind === '$') {
      const end = endOfMath(line, mark, index, find);
      if (end !== undefined) pieces.push(saidOfMath(line.slice(at, end)));
      else if (kind === '$') pieces.push(mark);
      else pieces.push(mark.length > 2 ? saidOfMath(mark) : unescape(mark, index));
      if (end !== undefined) at = end + mark.length;
    } else if (kind === '*' || kind === '_' || kind === '~') {
      emphasize(mark, line[index - 1], line[at]);
    } else if (kind === '&') {
      pieces.push(saidOfEntity(mark));
    } else if (kind === '<' && !isAddress(mark)) {
      pieces.push(isPower(mark, line, index) ? '^' : (saidOfTag(mark, elements) ?? mark));
    } else {
      at = withoutParentheses(pieces, line, index + lengthOfAddress(mark));
    }
    marks.lastIndex = at;
  }
  return pieces.join('') + line.slice(at);
}

/** A link whose text is only a number is a citation: `[1](https://e.org)`, `[[2]](#notes)`. */
const citedLink = /^\[{1,2}\^?[1-9]\d{0,2}\^?\]{1,2}[([]/;

/** Removes the parentheses around a silent mark that ends at `end`. Returns the new end. */
function withoutParentheses(pieces: string[], line: string, end: number): number {
  const text = pieces.at(-1) ?? '';
  if (!text.endsWith('(') || line[end] !== ')') return end;
  pieces[pieces.length - 1] = text.slice(0, -1);
  return end + 1;
}

/** Removes the space before a silent mark that ends at `end`, unless a word follows. */
function withoutSpace(pieces: string[], line: string, end: number): number {
  if (!/[\p{L}\p{N}]/u.test(line[end] ?? '')) pieces[pieces.length - 1] = pieces.at(-1)?.trimEnd() ?? '';
  return end;
}

const isAddress = (mark: string): boolean => mark.includes(':') && /^<(?:https?:\/\/|mailto:)/i.test(mark);

/** Whether the tag starts an exponent: `10<sup>6</sup>` is not 106. */
function isPower(mark: string, line: string, index: number): boolean {
  return /^<sup>$/i.test(mark) && /[\p{L}\p{N})]/u.test(line[index - 1] ?? '') && /[-−\d]/.test(line[index + 5] ?? '');
}

/**
 * Whether the mark is a footnote. A footnote follows a word; `[^a-z]` at the beginning of a word is a character class.
 */
function isFootnote(mark: string, before: string | undefined, labels: ReadonlySet<string>): boolean {
  return (before !== undefined && !isSpace(before)) || labels.has(labelOf(mark.slice(1, -1)));
}

/**
 * Removes the backslash of escaped characters, except in paths: `C:\\a\\.ssh`, `\\\\server`. The marks must be passed
 * in order.
 */
function createUnescape(line: string): (mark: string, index: number) => string {
  let path: number | undefined;
  return (mark, index) => {
    if (path !== undefined && /\s/.test(line.slice(path, index))) path = undefined;
    if (path === undefined && /^\\[!-/:-@[\]-`{-~]$/.test(mark) && line[index - 1] !== ':') return mark.slice(1);
    path = index;
    return mark;
  };
}

function endOfMath(
  line: string,
  mark: string,
  index: number,
  find: ReturnType<typeof createFinder>,
): number | undefined {
  const start = index + mark.length;
  if (mark === '\\(') return find('\\)', start);
  if (mark === '\\[') return find('\\]', start);
  if (mark !== '$' && mark !== '$$') return undefined;
  const end = find(mark, start);
  return end !== undefined && isBetweenDollars(line, { start, end, mark }) ? end : undefined;
}

/**
 * Excludes punctuation that belongs to the sentence. A closing parenthesis belongs to the address only if the address
 * contains an opening one.
 */
function lengthOfAddress(address: string): number {
  if (address.startsWith('<')) return address.length;
  const closing = address.includes('(') ? ".,;:!?'*_~}" : ".,;:!?'*_~})";
  let length = address.length;
  while (closing.includes(address.charAt(length - 1))) length -= 1;
  return length;
}

// ------------------------------------------------------------------------------------------------------------ code

/** Finds the run of the same number of backticks that closes a code span. The spans must be passed in order. */
function createCodeFinder(line: string): (start: number, length: number) => number | undefined {
  let runs: Map<number, { readonly starts: number[]; next: number }> | undefined;
  return (start, length) => {
    runs ??= runsOf(line);
    const run = runs.get(length);
    while (run && (run.starts[run.next] ?? Infinity) <= start) run.next += 1;
    return run?.starts[run.next];
  };
}

function runsOf(line: string) {
  const runs = new Map<number, { readonly starts: number[]; next: number }>();
  for (const { 0: run, index } of line.matchAll(/`+/g)) {
    const known = runs.get(run.length);
    if (known) known.starts.push(index);
    else runs.set(run.length, { starts: [index], next: 0 });
  }
  return runs;
}

// ----------------------------------------------------------------------------------------------------------- links

/** Normalizes the label of a reference link or a footnote, as CommonMark does. */
export const labelOf = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

const maxLabelLength = 100;

/** Maps the indexes of both brackets of a link's text to the index where the link ends. */
function findLinks(line: string, labels: ReadonlySet<string>): ReadonlyMap<number, number> {
  const links = new Map<number, number>();
  if (!line.includes('](') && labels.size === 0) return links;
  const parentheses = pairsOf(line, '(', ')');
  const brackets = pairsOf(line, '[', ']');
  const isLabel = (open: number, close: number) =>
    close - open <= maxLabelLength && labels.has(labelOf(line.slice(open + 1, close)));
  let space = -1;
  for (const [open, close] of brackets) {
    if (line[close + 1] !== '(') {
      const labelEnd = brackets.get(close + 1) ?? close;
      const isNamed = labelEnd > close + 2;
      if (isNamed ? isLabel(close + 1, labelEnd) : isLabel(open, close))
        links.set(open, labelEnd + 1).set(close, labelEnd + 1);
      continue;
    }
    const end = parentheses.get(close + 1);
    if (end === undefined) continue;
    if (space < close) space = nextSpace(line, close + 1);
    if (space < end && !hasTitle(line, space, end)) continue;
    links.set(open, end + 1).set(close, end + 1);
  }
  return links;
}

/** Maps the index of each opening character to the index of its closing one, ordered by the latter. */
function pairsOf(line: string, opening: string, closing: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < line.length; at++) {
    if (line[at] === opening) open.push(at);
    else if (line[at] === closing && open.length > 0) pairs.set(open.pop() ?? 0, at);
  }
  return pairs;
}

function nextSpace(line: string, from: number): number {
  const space = /\s/g;
  space.lastIndex = from;
  return space.exec(line)?.index ?? Infinity;
}

/** Whether the text after the space is the title of a link rather than a sentence in parentheses. */
function hasTitle(line: string, space: number, end: number): boolean {
  const quote = line
    .slice(space, Math.min(end, space + 4))
    .trimStart()
    .charAt(0);
  return (quote === '"' || quote === "'") && line[end - 1] === quote;
}

// -------------------------------------------------------------------------------------------------------- emphasis

/** Returns a function that pushes a mark, and empties both marks of a pair when the second one is pushed. */
function createEmphasis(pieces: string[]) {
  const open: { readonly mark: string; readonly piece: number }[] = [];
  const counts = new Map<string, number>();
  const count = (mark: string) => counts.get(mark) ?? 0;

  return (mark: string, before = ' ', after = ' '): void => {
    const piece = pieces.push(mark) - 1;
    if (count(mark) > 0 && mayClose(mark, before, after)) {
      for (let last = open.pop(); last; last = open.pop()) {
        counts.set(last.mark, count(last.mark) - 1);
        if (last.mark !== mark) continue;
        pieces[last.piece] = pieces[piece] = '';
        return;
      }
    } else if (mark.length <= 3 && mayOpen(mark, before, after)) {
      open.push({ mark, piece });
      counts.set(mark, count(mark) + 1);
    }
  };
}

const isSpace = (character: string): boolean => /\s/.test(character);
const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Whether the mark may open emphasis, unlike in `2*3*4` and `snake_case_name`. */
function mayOpen(mark: string, before: string, after: string): boolean {
  if (isSpace(after)) return false;
  return mark === '**' ? !/\p{N}/u.test(before) : mark.startsWith('~') || !isWord(before);
}

function mayClose(mark: string, before: string, after: string): boolean {
  return !isSpace(before) && !(mark.startsWith('_') && isWord(after));
}
