/**
 * Prepares a text for speech: removes the marks of Markdown, HTML, LaTeX and chat models, reasoning, code, addresses
 * and emoji, replaces styled letters with plain ones, and adds punctuation for pauses. Pure, in linear time.
 */
import { closes, fenceOf, type Fence } from '../../lib/code-fence.ts';
import {
  cellsOf,
  continuesItem,
  definedLabel,
  isDelimiterRow,
  isRowAlone,
  isRule,
  readLine,
  startOfMath,
  withoutLineBreak,
  type Line,
} from './block-marks.ts';
import { withoutEmoji } from './emoji.ts';
import { closedElements } from './html.ts';
import { withoutInlineMarks, type Definitions } from './inline-marks.ts';
import { plainLetters } from './letters.ts';
import { saidOfMath } from './math.ts';
import { endsWithPause, isSpoken, SpokenText, type Pause } from './pauses.ts';
import { withoutSilentElements } from './silent-elements.ts';
import { createToolCalls } from './tool-calls.ts';

/** Returns plain text unchanged, and "" if nothing is left to speak. */
export function speakable(text: string): string {
  const plain = plainLetters(text);
  const visible = withoutSilentElements(plain);
  const lines = visible.split('\n');
  const labels = new Set(lines.flatMap((line) => definedLabel(line) ?? []));
  const reader = new BlockReader({ labels, elements: closedElements(visible) });
  lines.forEach((line, at) => reader.read(line, lines[at + 1] ?? ''));
  const said = reader.text.toString();
  const spoken = said === plain ? said : said.trim();
  return /[\p{L}\p{N}\p{S}]/u.test(spoken) ? spoken : '';
}

/** Reads a text line by line, and collects the text to speak. */
class BlockReader {
  readonly text = new SpokenText();
  readonly #definitions: Definitions;
  readonly #withoutToolCalls = createToolCalls();
  #fence: Fence | undefined;
  #mathEnd: string | undefined;
  #isTable = false;
  #above: { readonly quotes?: number; readonly isItem: boolean; readonly isEnded: boolean } = start;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  read(source: string, next: string): void {
    if (this.#fence) {
      if (closes(this.#fence, source)) this.#fence = undefined;
      return;
    }
    const line = this.#withoutToolCalls(source);
    const read = readLine(line);
    const { rest } = read;
    if (this.#readMath(source, rest)) return;
    this.#fence = fenceOf(line);
    this.#isTable = line.includes('|') && (this.#isTable || isDelimiterRow(next));
    const isRow = this.#isTable || isRowAlone(line);
    if (isRow && isDelimiterRow(line)) return;
    if (this.#fence || isRule(line) || definedLabel(rest) !== undefined) this.text.pause(2);
    else if (!isSpoken(line)) this.#readEmpty(source);
    else if (isRow) this.#add(source, this.#wordsOfRow(line), { before: 1, after: 1 });
    else this.#readText(source, read, next);
  }

  #readMath(source: string, rest: string): boolean {
    const math = this.#mathEnd === undefined ? startOfMath(rest) : { length: 0, end: this.#mathEnd };
    if (!math) return false;
    const end = rest.indexOf(math.end, math.length);
    const [inside, after] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end + math.end.length)];
    const words = saidOfMath(inside.slice(math.length)) + this.#say(after);
    this.#add(source, words, { before: this.#mathEnd === undefined ? 1 : 0, after: end < 0 ? 0 : 1 });
    this.#mathEnd = end < 0 ? math.end : undefined;
    return true;
  }

  #readEmpty(source: string): void {
    this.#above = start;
    if (isSpoken(source)) this.text.pause(2);
    else this.text.add(source);
  }

  #wordsOfRow(row: string): string {
    const cells = cellsOf(row).map((cell) => this.#say(cell).trim());
    return cells.filter(isSpoken).join(', ');
  }

  /** Reads a heading, or a line of a list item or a paragraph. */
  #readText(source: string, { rest, quotes, kind }: Line, next: string): void {
    const above = this.#above;
    // "1. April" may be a date in the middle of a sentence.
    const isNumber = kind === 'numbered' && (above.isItem || above.isEnded || readLine(next).kind === 'numbered');
    const isItem = kind === 'item' || isNumber;
    const isApart = kind === 'heading' || (above.quotes !== undefined && above.quotes !== quotes);
    const unbroken = isSpoken(next) ? withoutLineBreak(rest) : undefined;
    const isEnd = (isItem && !continuesItem(next)) || unbroken !== undefined;
    const before = isApart ? 2 : isItem ? 1 : 0;
    const after = kind === 'heading' ? 2 : isEnd ? 1 : 0;
    this.#above = { quotes, isItem, isEnded: after > 0 || endsWithPause(rest) };
    this.#add(source, this.#say(unbroken ?? rest), { before, after });
  }

  /** Returns the text to speak for a part of a line. */
  #say(words: string): string {
    return withoutEmoji(withoutInlineMarks(words, this.#definitions));
  }

  #add(source: string, words: string, { before, after }: Pauses): void {
    this.text.pause(before);
    if (words === source) this.text.add(words);
    else this.#addLines(words.split('\n').map(tidied));
    this.text.pause(after);
  }

  /**
   * Adds the lines into which a source line was split at tags that are pauses: one line end is a sentence pause, two
   * are a paragraph pause.
   */
  #addLines(lines: readonly string[]): void {
    let last = 0;
    for (const [at, line] of lines.entries()) {
      if (!isSpoken(line)) continue;
      this.text.pause(pauseOf(at - last));
      this.text.add(line);
      last = at;
    }
    this.text.pause(lines.some(isSpoken) ? pauseOf(lines.length - 1 - last) : 1);
  }
}

const start = { isItem: false, isEnded: true };

interface Pauses {
  readonly before: Pause;
  readonly after: Pause;
}

const pauseOf = (lineEnds: number): Pause => (lineEnds > 1 ? 2 : lineEnds > 0 ? 1 : 0);

/** Removes the spaces around silent marks, and the comma before the first cell of a row. */
const tidied = (words: string): string =>
  words
    .replace(/ {2,}/g, ' ')
    .replace(/^[\s,]+/, '')
    .trimEnd();
