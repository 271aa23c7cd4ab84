/** Removes the marks of Markdown within a line, where they come in complete pairs. Pure, in linear time. */

/** Code, an address, a bracket, emphasis, an escaped character. */
const marks =
  /`+|<(?:https?:\/\/|mailto:)[^\s<>]*>|(?:https?:\/\/|(?<![\p{L}\p{N}])www\.)[^\s<>[\]`"]+|!?\[|\]|\*+|_+|~~+|\\\S/giu;

/**
 * Code and emphasis keep their words, links their text. Images and addresses are silent. A line without such pairs comes
 * back unchanged.
 */
export function withoutInlineMarks(line: string): string {
  const pieces: string[] = [];
  const code = createCodeFinder(line);
  const links = findLinks(line);
  const emphasize = createEmphasis(pieces);
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
    } else if (kind === '!' || kind === '[' || kind === ']') {
      const end = links.get(at - 1);
      if (end === undefined) pieces.push(mark);
      else if (kind !== '[') at = end;
    } else if (kind === '\\') {
      pieces.push(mark);
    } else if (kind === '*' || kind === '_' || kind === '~') {
      emphasize(mark, line[index - 1], line[at]);
    } else {
      at = index + lengthOfAddress(mark);
      if (line[index - 1] === '(' && line[at] === ')') {
        pieces.push((pieces.pop() ?? '').slice(0, -1));
        at += 1;
      }
    }
    marks.lastIndex = at;
  }
  return pieces.join('') + line.slice(at);
}

/** Without what ends the sentence. A closing parenthesis belongs to an address that has an opening one. */
function lengthOfAddress(address: string): number {
  if (address.startsWith('<')) return address.length;
  const closing = address.includes('(') ? ".,;:!?'*_~}" : ".,;:!?'*_~})";
  let length = address.length;
  while (closing.includes(address.charAt(length - 1))) length -= 1;
  return length;
}

// ------------------------------------------------------------------------------------------------------------ code

/** Finds the run of as many backticks that ends the code of an earlier one. Calls are in order. */
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

/** By the places of both brackets of a link's text: where the link ends. */
function findLinks(line: string): ReadonlyMap<number, number> {
  const links = new Map<number, number>();
  if (!line.includes('](')) return links;
  const parentheses = pairsOf(line, '(', ')');
  let space = -1;
  for (const [open, close] of pairsOf(line, '[', ']')) {
    if (line[close + 1] !== '(') continue;
    const end = parentheses.get(close + 1);
    if (end === undefined) continue;
    if (space < close) space = nextSpace(line, close + 1);
    if (space < end && !hasTitle(line, space, end)) continue;
    links.set(open, end + 1).set(close, end + 1);
  }
  return links;
}

/** Of each opening character the place of the one that closes it, in the order of the latter. */
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

/** Whether what follows the space is the title of a link, and no sentence in parentheses. */
function hasTitle(line: string, space: number, end: number): boolean {
  const quote = line
    .slice(space, Math.min(end, space + 4))
    .trimStart()
    .charAt(0);
  return (quote === '"' || quote === "'") && line[end - 1] === quote;
}

// -------------------------------------------------------------------------------------------------------- emphasis

/** Pushes marks, and empties both once the second of a pair comes. */
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

/** `2*3*4` and `snake_case_name` are no emphasis. */
function mayOpen(mark: string, before: string, after: string): boolean {
  if (isSpace(after)) return false;
  return mark === '**' ? !/\p{N}/u.test(before) : mark.startsWith('~') || !isWord(before);
}

function mayClose(mark: string, before: string, after: string): boolean {
  return !isSpace(before) && !(mark.startsWith('_') && isWord(after));
}
