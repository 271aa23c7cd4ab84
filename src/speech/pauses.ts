/** Joins the lines of a text so that voices pause where the removed marks were. Pure, in linear time. */
import { abbreviationAt } from '../../lib/abbreviations.ts';

/** 0: no pause, as within a paragraph; 1: the pause of a sentence; 2: the pause of a paragraph. */
export type Pause = 0 | 1 | 2;

const longer = (one: Pause, other: Pause): Pause => (one > other ? one : other);

/**
 * Joins the lines of a text. Voices treat a line end as a space; only punctuation and empty lines are pauses. If a
 * pause is missing, the line gets a full stop and, for a paragraph pause, an empty line after it.
 */
export class SpokenText {
  readonly #lines: string[] = [];
  /** The index of the latest line with words. */
  #last: number | undefined;
  #pause: Pause = 0;

  pause(pause: Pause): void {
    this.#pause = longer(this.#pause, pause);
  }

  add(words: string): void {
    if (isSpoken(words)) {
      if (this.#last === this.#lines.length - 1) this.#end(this.#last);
      this.#last = this.#lines.length;
      this.#pause = 0;
    }
    this.#lines.push(words);
  }

  #end(last: number): void {
    if (this.#pause === 0) return;
    const ended = withStop(this.#lines[last] ?? '');
    this.#lines[last] = ended;
    if (this.#pause === 2 || !isSentence(ended)) this.#lines.push('');
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

export const isSpoken = (words: string): boolean => words.trim() !== '';

export const endsWithPause = (words: string): boolean => /[\p{Terminal_Punctuation}…–—]$/u.test(endOf(words));

/** Whether the punctuation at the end of a line is always a pause, unlike after "A." or "Dr.". */
const isSentence = (words: string): boolean =>
  endsWithPause(words) && !(words.endsWith('.') && abbreviationAt(words.slice(0, -1), '') !== undefined);

/** Returns the end of a line, without closing quotation marks and brackets after its punctuation. */
function endOf(words: string): string {
  return words
    .trimEnd()
    .slice(-16)
    .replace(/[\p{Pe}\p{Pf}"'*_]+$/u, '');
}

/** Sentences in these scripts do not end with full stops. */
const withoutStops = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]\p{M}*$/u;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}ー]$/u;

function withStop(words: string): string {
  const trimmed = words.trimEnd();
  if (endsWithPause(trimmed) || withoutStops.test(endOf(trimmed))) return trimmed;
  return `${trimmed}${ideographs.test(endOf(trimmed)) ? '。' : '.'}`;
}
