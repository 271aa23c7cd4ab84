/** Cuts a text into pieces for speech. Runs in linear time. */

export interface Piece {
  /** Without white space at its ends. */
  readonly text: string;
  readonly end: 'sentence' | 'clause' | 'word';
}

export interface PieceOptions {
  /** Maximum length of a piece in code points, at least 1. */
  readonly longest: number;
  /**
   * Each piece ends with the first sentence that makes it longer than its number of UTF-16 units in this list. The last
   * number applies to all further pieces. Default: as many whole sentences as fit.
   */
  readonly shortest?: readonly number[];
  /**
   * Yields the offsets at which sentences and lines end, after their white space. The text begins with the piece;
   * `index` is the number of pieces before it.
   */
  readonly sentenceEnds: (text: string, index: number) => Iterable<number>;
}

/** UTF-16 units that the segmenters see after a piece: the following text decides whether a cut is allowed ("3.|14"). */
const lookAhead = 32;

const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Pieces consist of whole sentences. A sentence that does not fit is cut after a clause if possible, otherwise after a
 * word. A word that does not fit is cut between two graphemes. Text that contains only whitespace has no pieces.
 */
export function piecesOf(text: string, options: PieceOptions): Piece[] {
  return createPieces(options).end(text);
}

/** For a text that arrives in parts: `push` returns the pieces that are complete, `end` returns the rest. */
export function createPieces({ longest, shortest = [Infinity], sentenceEnds }: PieceOptions) {
  let rest = '';
  let count = 0;

  function take(part: string, isLast: boolean): Piece[] {
    const text = rest + part;
    const pieces: Piece[] = [];
    let start = skipSpace(text, 0);
    while (start < text.length) {
      const enough = shortest[Math.min(count, shortest.length - 1)] ?? Infinity;
      const next = nextPiece(text, start, { longest, enough, isLast, ends: (window) => sentenceEnds(window, count) });
      if (!next) break;
      pieces.push({ text: text.slice(start, start + next.length).trimEnd(), end: next.end });
      start = skipSpace(text, start + next.length);
      count += 1;
    }
    rest = text.slice(start);
    return pieces;
  }

  return { push: (part: string) => take(part, false), end: (part = '') => take(part, true) };
}

interface Limits extends Pick<PieceOptions, 'longest'> {
  readonly ends: (text: string) => Iterable<number>;
  /** The piece ends with the first sentence that makes it longer than this. */
  readonly enough: number;
  /** True if no text follows. */
  readonly isLast: boolean;
}

/** Returns undefined if the piece may continue with the text that follows. */
function nextPiece(
  text: string,
  start: number,
  { longest, enough, isLast, ends }: Limits,
): (Pick<Piece, 'end'> & { readonly length: number }) | undefined {
  const full = skipCodePoints(text, start, longest);
  const space = /^\s*/.exec(text.slice(full, full + lookAhead))?.[0].length ?? 0;
  const reach = full + space - start;
  const window = text.slice(start, start + reach + lookAhead);
  const isOpen = !isLast && window.length < reach + lookAhead;
  if (isOpen && window.length <= enough) return undefined;
  let sentence = 0;
  for (const end of ends(window)) {
    if (end > reach || (end === window.length && !isLast && !window.endsWith('\n'))) break;
    sentence = end;
    if (end > enough) break;
  }
  if (sentence > (isOpen ? enough : 0)) return { length: sentence, end: 'sentence' };
  if (isOpen) return undefined;
  const clause = lastMatch(clauseEnd, window.slice(0, reach));
  if (clause > 0) return { length: clause, end: 'clause' };
  const word =
    lastMatch(wordEnd, window.slice(0, reach)) ||
    boundaryBefore(words, window, reach) ||
    boundaryBefore(graphemes, window, reach) ||
    full - start;
  return { length: word, end: 'word' };
}

/**
 * `.*` is greedy, so these match up to the last end of a clause or word. Thai, Lao, Khmer and Burmese use spaces
 * between clauses, not between words.
 */
const clauseEnd =
  /^.*(?:[,;:–—،؛՝፣፤፥၊]\s|[、，；：]|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\s)/su;
const wordEnd = /^.*\s/s;

function lastMatch(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

/** The last boundary at or before `index`, or 0. */
function boundaryBefore(segmenter: Intl.Segmenter, window: string, index: number): number {
  return segmenter.segment(window).containing(index)?.index ?? 0;
}

function skipCodePoints(text: string, start: number, count: number): number {
  let end = start;
  for (let left = count; left > 0 && end < text.length; left -= 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}

/** All white space is in the Basic Multilingual Plane, so one UTF-16 unit is enough. */
function skipSpace(text: string, start: number): number {
  let end = start;
  while (end < text.length && /\s/.test(text.charAt(end))) end += 1;
  return end;
}
