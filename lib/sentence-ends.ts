/** Finds the ends of sentences by Unicode's rules. The caller recognizes the abbreviations. */

/**
 * Whether the full stop between the texts belongs to an abbreviation and does not end a sentence. `next` may be only the
 * first characters of the text that follows.
 */
export type IsAbbreviation = (text: string, next: string) => boolean;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** In Greek, the semicolon is the question mark. */
const greekQuestion = /(?<=\p{Script=Greek}["'»”’)]*[;\u037e]["'»”’)]*\s+)(?=\S)/gu;

/** Yields the offset of the end of each sentence and line, including trailing white space. */
export function* endsOfSentences(text: string, isAbbreviation: IsAbbreviation): Generator<number> {
  let last = 0;
  // By Unicode's rules, a single-character ellipsis never ends a sentence.
  for (const { index, segment } of segmenter.segment(text.replace(/…(?=\s)/g, '.'))) {
    if (/[;\u037e]/.test(segment)) {
      for (const question of segment.matchAll(greekQuestion)) yield index + question.index;
    }
    const end = endBeforeBracket(text, index + segment.length);
    if (end <= last || (end < text.length && isInSentence(text, end, isAbbreviation))) continue;
    last = end;
    yield end;
  }
}

/**
 * Unicode's rules treat brackets that open after a full stop as part of the sentence. Only citations are part of it:
 * "It is.[1]". Returns 0 if the text ends within a citation.
 */
function endBeforeBracket(text: string, end: number): number {
  const bracket = end - 1;
  if (end === text.length || !/[\p{Ps}\p{Pi}]/u.test(text.charAt(bracket))) return end;
  const [citations = '', open] =
    /^(?:\[[^\s[\]]{1,20}\]){0,5}\s*(\[[^\s[\]]{0,20}$)?/.exec(text.slice(bracket, end + 120)) ?? [];
  return open === undefined ? bracket + citations.length : 0;
}

/** Whether the text before this place ends with an abbreviation, on the same line. */
function isInSentence(text: string, index: number, isAbbreviation: IsAbbreviation): boolean {
  let stop = index;
  while (stop > 0 && /[^\S\n]/.test(text.charAt(stop - 1))) stop -= 1;
  if (text[stop - 1] !== '.') return false;
  const next = text.slice(index, index + 6);
  return (stop === index && startsWithLetter.test(next)) || isAbbreviation(text.slice(0, stop - 1), next);
}

/**
 * A letter directly after the full stop continues an abbreviation (`कि.मी.`), except in Chinese, Japanese and Korean
 * scripts.
 */
const startsWithLetter = /^(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])\p{L}/u;
