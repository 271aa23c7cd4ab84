/** Cuts a text into what is spoken at once: sound begins with the end of the first piece. */
import { sentencesOf, splitSentences } from '../lib/sentences.ts';

export interface Piece {
  readonly text: string;
  /** The silence after it: 1 is that between two sentences. */
  readonly pause: 0 | 0.5 | 1;
}

/** In code points. The library keeps the memory of its longest piece: 10 s of sound, 400 MB. */
const longest = 120;

/** Voices swallow parts of very short sentences. */
const shortestFirst = 12;

/** An ellipsis is a pause, for which voices have no sound. */
const pauses = /\n\s*\n|(?<=\.\.\.|…)\s+/;

const clauseEnd = /(?<=[,;:–—]\s|[、，；：])/;

/** The first piece is the first sentence alone; the others have as many sentences as fit. */
export function piecesOf(text: string): Piece[] {
  const paragraphs = text.split(pauses).map((paragraph) => paragraph.replace(/\s+/g, ' ').trim());
  const [first = [], ...others] = paragraphs.filter((paragraph) => paragraph !== '').map(sentencesOf);
  const opening = openingOf(first);
  const groups = [first.slice(0, opening), first.slice(opening), ...others].flatMap(pack);
  return groups.flatMap((group) => cut(group));
}

/** How many sentences the first piece has. */
function openingOf(parts: readonly string[]): number {
  let length = 0;
  const last = parts.findIndex((part) => (length += part.length) > shortestFirst);
  return last + 1 || parts.length;
}

/** Joins neighbours, as long as they fit. */
function pack(parts: readonly string[]): string[] {
  const packed: string[] = [];
  for (const part of parts) {
    const joined = (packed.at(-1) ?? '') + part;
    if (fits(joined)) packed.splice(-1, 1, joined);
    else packed.push(part);
  }
  return packed;
}

/** A long sentence ends its pieces with a clause, or with a word. */
function cut(sentence: string): Piece[] {
  if (fits(sentence)) return [{ text: sentence.trim(), pause: 1 }];
  const clauses = pack(sentence.split(clauseEnd)).flatMap((clause): Piece[] => {
    const words = splitSentences(clause, longest);
    return words.map((text, index) => ({ text, pause: index + 1 < words.length ? 0 : 0.5 }));
  });
  return clauses.map((piece, index) => (index + 1 < clauses.length ? piece : { ...piece, pause: 1 }));
}

/** White space at the end is not spoken. */
function fits(text: string): boolean {
  const spoken = text.trimEnd();
  return spoken.length <= 2 * longest && Array.from(spoken).length <= longest;
}
