/** Separates the answers of chat models from the thoughts in the same text, which may arrive in pieces cut anywhere. */
import { closingMarks, endMarks, openingMarks } from './thought-marks.ts';

/** A piece of the text, without marks. */
export type Part =
  | { readonly kind: 'thought' | 'answer'; readonly text: string }
  /** The answer so far was a thought. */
  | { readonly kind: 'retraction' };

const marks = [...openingMarks, ...closingMarks, ...endMarks];
const firstCharacters = new Set(marks.map((mark) => mark.charAt(0)));
const longest = marks.reduce((most, { length }) => Math.max(most, length), 0);

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
const mayHaveMark = new RegExp(`[${[...firstCharacters].map(escape).join('')}]`);
const oneOf = (list: readonly string[]) => list.map(escape).join('|');
const pattern = `(?<opening>${oneOf(openingMarks)})|(?<closing>${oneOf(closingMarks)})|${oneOf(endMarks)}`;
const [anywhere, here] = [new RegExp(pattern, 'gi'), new RegExp(pattern, 'yi')];

interface Mark {
  readonly kind: 'opening' | 'closing' | 'end';
  readonly start: number;
  readonly end: number;
}

function findMark(text: string, from: number, regExp = anywhere): Mark | undefined {
  regExp.lastIndex = from;
  const found = regExp.exec(text);
  if (!found) return undefined;
  const { 0: mark, index: start, groups } = found;
  const kind = groups?.opening !== undefined ? 'opening' : groups?.closing !== undefined ? 'closing' : 'end';
  return { kind, start, end: start + mark.length };
}

/** Returns the index at which an incomplete mark may begin, or the length of the text. */
function startOfPart(text: string): number {
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
    if (!firstCharacters.has(text.charAt(at))) continue;
    const tail = text.slice(at).toLowerCase();
    if (marks.some((mark) => mark.startsWith(tail))) return at;
  }
  return text.length;
}

/**
 * Thoughts precede the answer, each between two marks, and may contain others. A thought without an end lasts to the end
 * of the text. White space around thoughts is dropped.
 *
 * Chat templates may write the opening mark into the prompt: a closing mark without one makes the answer so far a thought.
 * Other marks in the middle of an answer are text.
 */
export class ThoughtSplitter {
  #state: 'beginning' | 'thought' | 'answer' = 'beginning';
  /** The end of the text so far, if it may belong to a mark. */
  #held = '';
  /** White space that is dropped unless words follow, in pieces. */
  #space: string[] = [];
  /** True until a mark has been found. */
  #isUnmarked = true;
  /** The opening mark of the thought. */
  #mark = '';
  /** How many thoughts have begun and not ended. */
  #depth = 0;
  /**
   * The text after a thought within another one. It belongs to the outer thought if that one ends. Otherwise it is the
   * answer, because the inner opening mark was only mentioned.
   */
  #unclear: string[] | undefined;
  #hasWords = false;
  #hadThought = false;
  /** Whether a closing mark in the answer would have a meaning. */
  #isWatching = true;
  /** The latest text of the answer. */
  #before = '';

  take(text: string): readonly Part[] {
    if (this.#state === 'answer' && this.#held === '' && !mayHaveMark.test(text)) return this.#answer(text);
    const parts: Part[] = [];
    const whole = this.#held + text;
    this.#held = '';
    for (let at = 0; at < whole.length;) at = this.#step(whole, at, parts);
    return parts;
  }

  /** Ends the text. */
  end(): readonly Part[] {
    const held = this.#held;
    if (this.#unclear) return this.#answer((this.#unclear.join('') + held).trimStart());
    if (this.#state === 'thought') return this.#think(held);
    if (this.#state === 'beginning') return this.#answer(this.#space.join('') + held);
    const mark = findMark(held, 0, here);
    if (mark?.kind === 'closing') return [{ kind: 'retraction' }];
    return mark?.kind === 'end' ? [] : this.#answer(held);
  }

  /** Reads up to the next mark; returns the index of the text after it. */
  #step(text: string, at: number, parts: Part[]): number {
    switch (this.#state) {
      case 'beginning':
        return this.#readBeginning(text, at, parts);
      case 'thought':
        return this.#readThought(text, at, parts);
      case 'answer':
        return this.#readAnswer(text, at, parts);
    }
  }

  #readBeginning(text: string, at: number, parts: Part[]): number {
    const start = text.length - text.slice(at).trimStart().length;
    if (this.#isUnmarked) this.#space.push(text.slice(at, start));
    const mark = findMark(text, start, here);
    if (mark) {
      this.#isUnmarked = false;
      this.#space = [];
      if (mark.kind === 'opening') this.#beginThought(text.slice(mark.start, mark.end));
      return mark.end;
    }
    if (startOfPart(text) <= start) {
      this.#held = text.slice(start);
      return text.length;
    }
    this.#state = 'answer';
    this.#isWatching = !/[{[`]/.test(text.charAt(start)); // JSON and code are not thoughts
    parts.push(...this.#answer(this.#space.join('')));
    this.#space = [];
    return start;
  }

  #beginThought(mark: string): void {
    this.#state = 'thought';
    this.#mark = mark;
    this.#depth = 1;
    this.#hasWords = false;
  }

  #readThought(text: string, at: number, parts: Part[]): number {
    const found = findMark(text, at);
    const end = found?.start ?? Math.max(at, startOfPart(text));
    const before = text.slice(at, end);
    if (this.#unclear) this.#unclear.push(before);
    else parts.push(...this.#think(before));
    if (!found) {
      this.#held = text.slice(end);
      return text.length;
    }
    const mark = text.slice(end, found.end);
    if (found.kind !== 'opening') {
      this.#endThought(parts);
    } else if (this.#hasWords || mark !== this.#mark) {
      this.#depth += 1; // otherwise, the model repeats the mark of the prompt
      this.#unclear?.push(mark);
    }
    return found.end;
  }

  #endThought(parts: Part[]): void {
    if (this.#unclear) parts.push(...this.#think(this.#unclear.join('').replace(anywhere, '')));
    this.#depth -= 1;
    this.#unclear = this.#depth > 0 ? [] : undefined;
    if (this.#depth > 0) return;
    this.#state = 'beginning';
    this.#space = [];
  }

  #readAnswer(text: string, at: number, parts: Part[]): number {
    const mark = this.#isWatching ? findMark(text, at) : undefined;
    const end = mark?.start ?? (this.#isWatching ? Math.max(at, startOfPart(text)) : text.length);
    parts.push(...this.#answer(text.slice(at, end)));
    if (!mark || (mark.kind !== 'opening' && isUndecided(text, mark))) {
      this.#held = text.slice(end);
      return text.length;
    }
    if (mark.kind === 'closing' && !isMentioned(this.#before, text.slice(mark.end, mark.end + 2))) {
      parts.push({ kind: 'retraction' });
      this.#state = 'beginning';
      this.#isUnmarked = false;
      this.#hadThought = true;
    } else {
      this.#isWatching = mark.kind === 'end';
      parts.push(...this.#answer(text.slice(mark.start, mark.end)));
    }
    return mark.end;
  }

  #answer(text: string): Part[] {
    if (text === '') return [];
    this.#before = text.length > 1 ? text : this.#before.slice(-1) + text;
    return [{ kind: 'answer', text }];
  }

  /** Removes the white space around the thought. */
  #think(text: string): Part[] {
    const rest = this.#hasWords ? text : text.trimStart();
    const words = rest.trimEnd();
    if (words === '') {
      this.#space.push(rest);
      return [];
    }
    const gap = this.#hadThought && !this.#hasWords ? '\n\n' : '';
    const thought = gap + this.#space.join('') + words;
    this.#space = [rest.slice(words.length)];
    this.#hasWords = true;
    this.#hadThought = true;
    return [{ kind: 'thought', text: thought }];
  }
}

/** Whether the meaning of the mark depends on text that is still to come. */
function isUndecided(text: string, { start, end }: Mark): boolean {
  return startOfPart(text) <= start || /^\s{0,8}$/.test(text.slice(end, end + 9));
}

/** Whether a sentence is about the closing mark between these texts: it is quoted, or the sentence continues. */
function isMentioned(before: string, after: string): boolean {
  if (/[`'"“„‘«(]$/.test(before)) return true;
  return /[\p{L}\p{N},;:] $/u.test(before) && /^(?:[.,;:!?)]| \p{Ll})/u.test(after);
}

/** Returns the answer in a whole text, or in a piece of one. */
export function withoutThoughts(text: string): string {
  if (text.search(anywhere) < 0) return text;
  const splitter = new ThoughtSplitter();
  const parts = [...splitter.take(text), ...splitter.end()];
  const begin = parts.findLastIndex(({ kind }) => kind === 'retraction') + 1;
  return parts
    .slice(begin)
    .flatMap((part) => (part.kind === 'answer' ? [part.text] : []))
    .join('');
}
