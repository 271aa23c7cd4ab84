/** Pauses where espeak-ng would leave something out: it skips what goes beyond its buffers for a word and a clause. */

/** In code points, without a space. Thai is cut from 72 on, Korean from 52. */
const longestWord = 50;

/** Of letters that are spelled: the name of a `W` alone is a twentieth of a word. */
const longestSpelled = 16;
const spelled = /^(?:[\p{Lu}b-df-hj-np-tv-xz]\.?)+\s*$/u;

/** In phonemes, as estimated here; it is cut from 1,000 on, or from 300 words. */
const longestClause = 900;

/** Phonemes that characters take at most, those by their names that have one, and numbers in some language. */
const estimates: readonly (readonly [RegExp, number])[] = [
  [/[\p{Extended_Pictographic}\p{Regional_Indicator}]/u, 30],
  [/\p{N}/u, 16],
  [/[\p{Script=Han}\p{Script=Hangul}]/u, 12],
  [/[\p{S}\p{P}]/u, 8],
  [/\p{Lu}/u, 3],
  [/\s/u, 2],
];
const otherEstimate = 1;
const consonants = /^[b-df-hj-np-tv-xz]+\s*$/i;
const consonantEstimate = 9;

/** Chinese marks need no space behind them. A full stop may be that of an abbreviation or of a number. */
const clauseEnd = /(?<=[,:;!?…]\s|\p{L}{2}\.\s{1,2}(?=\p{Lu})|[。．，、：；！？]|\n\n)/u;

/** A clause without any of these ends only with an empty line. */
const letterOrDigit = /[\p{L}\p{Nd}]/u;
const emptyLine = '\n\n';

/** Short words in a short clause, as in most prose: whatever they are, they fit. */
const surelyFits = /^(?=[^]{1,100}$)(?:\p{Script=Latin}{1,16}(?:['’-]\p{Script=Latin}{1,16})?[,.:;!?]?\s)+$/u;

/** A space in a long word, a comma in a long clause, between words where there are any. */
export function withPauses(text: string): string {
  let spoken = '';
  let [letters, phonemes, isSpeech] = [0, 0, false];
  for (const clause of text.split(clauseEnd)) {
    if (letters === 0 && phonemes === 0 && surelyFits.test(clause)) {
      spoken += clause;
      continue;
    }
    for (const part of partsOf(clause)) {
      const [more, morePhonemes] = [codePointsIn(part), phonemesIn(part)];
      if (phonemes + morePhonemes > longestClause) {
        spoken += isSpeech ? ', ' : emptyLine;
        [letters, phonemes, isSpeech] = [0, 0, false];
      } else if (letters + more > longestFor(part)) {
        spoken += ' ';
        letters = 0;
      }
      spoken += part;
      letters = /\s$/u.test(part) ? 0 : letters + more;
      phonemes += morePhonemes;
      isSpeech ||= letterOrDigit.test(part);
    }
    if (isSpeech || clause.endsWith(emptyLine)) [phonemes, isSpeech] = [0, false];
  }
  return spoken;
}

const words = new Intl.Segmenter('en', { granularity: 'word' });

/** What stands between spaces, each with those behind it; cut further where it is long. */
function partsOf(clause: string): string[] {
  return clause.split(/(?<=\s)(?=\S)/u).flatMap((word) => {
    if (codePointsIn(word) <= longestFor(word)) return [word];
    return Array.from(words.segment(word), ({ segment }) => segment).flatMap(cut);
  });
}

function cut(word: string): string[] {
  return word.match(new RegExp(`[^]{1,${longestFor(word)}}`, 'gu')) ?? [];
}

function longestFor(part: string): number {
  return spelled.test(part) ? longestSpelled : longestWord;
}

function phonemesIn(part: string): number {
  if (consonants.test(part)) return part.length * consonantEstimate;
  return Array.from(part, estimateOf).reduce((sum, phonemes) => sum + phonemes, 0);
}

function estimateOf(character: string): number {
  return estimates.find(([kind]) => kind.test(character))?.[1] ?? otherEstimate;
}

function codePointsIn(text: string): number {
  return Array.from(text).length;
}
