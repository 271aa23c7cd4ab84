import { isAbbreviation } from './abbreviations.ts';

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** UTF-16 units after the limit that the segmenters see: the following text decides whether a cut is allowed ("3.|14"). */
const lookAhead = 32;

/** The sentences of a text, with the white space after them. An abbreviation ends none. Runs in linear time. */
export function sentencesOf(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const { index, segment } of sentences.segment(text)) {
    const end = index + segment.length;
    if (end < text.length && isInSentence(text, end)) continue;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

/** Longer words are no abbreviations. */
const longestAbbreviation = 12;

/** Whether the text before this place ends with an abbreviation, on the same line. */
function isInSentence(text: string, index: number): boolean {
  let stop = index;
  while (stop > 0 && /[^\S\n]/.test(text.charAt(stop - 1))) stop -= 1;
  if (stop === index || text[stop - 1] !== '.') return false;
  const before = text.slice(Math.max(0, stop - 1 - longestAbbreviation), stop - 1);
  const [word] = /(?<![\p{L}\p{N}])(?:\p{L}+|\p{N}+)$/u.exec(before) ?? [];
  return word !== undefined && isAbbreviation(word, text.charAt(index));
}

/**
 * Splits a text for synthesis into pieces of at most `limit` (>= 1) code points, each as long as possible. A piece ends at
 * the end of a sentence if possible, else of a word, else of a grapheme. White space is trimmed at the cuts and the ends;
 * a text of only white space has no pieces. Runs in linear time.
 */
export function splitSentences(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let start = skipSpace(text, 0);
  while (start < text.length) {
    const end = start + pieceLength(text, start, limit);
    pieces.push(text.slice(start, end).trimEnd());
    start = skipSpace(text, end);
  }
  return pieces;
}

function pieceLength(text: string, start: number, limit: number): number {
  const full = skipCodePoints(text, start, limit);
  const reach = skipSpace(text, full) - start;
  if (start + reach === text.length) return reach;
  const window = text.slice(start, start + reach + lookAhead);
  return (
    sentenceEndBefore(window, reach) ||
    spaceBefore(window, reach) ||
    boundaryBefore(words, window, reach) ||
    boundaryBefore(graphemes, window, reach) ||
    full - start
  );
}

/** The last boundary at or before `index`, or 0. */
function boundaryBefore(segmenter: Intl.Segmenter, window: string, index: number): number {
  return segmenter.segment(window).containing(index)?.index ?? 0;
}

/** The last end of a sentence at or before `index`, or 0. */
function sentenceEndBefore(window: string, index: number): number {
  let last = boundaryBefore(sentences, window, index);
  if (!isInSentence(window, last)) return last;
  last = 0;
  for (const { index: start } of sentences.segment(window)) {
    if (start > index) break;
    if (!isInSentence(window, start)) last = start;
  }
  return last;
}

/** The end of the last white space at or before `index`, or 0. */
function spaceBefore(window: string, index: number): number {
  let end = index;
  while (end > 0 && !isSpace(window, end - 1)) end -= 1;
  return end;
}

function skipSpace(text: string, start: number): number {
  let end = start;
  while (end < text.length && isSpace(text, end)) end += 1;
  return end;
}

function skipCodePoints(text: string, start: number, count: number): number {
  let end = start;
  for (let left = count; left > 0 && end < text.length; left -= 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}

/** All white space is in the Basic Multilingual Plane, so one UTF-16 unit is enough. */
function isSpace(text: string, index: number): boolean {
  return /\s/.test(text.charAt(index));
}
