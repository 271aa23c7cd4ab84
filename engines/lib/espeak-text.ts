/** Prepares text for espeak-ng, which drops text that exceeds its word and clause buffers. */
import { abbreviationAt } from '../../lib/abbreviations.ts';

const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Replaces what espeak-ng does not treat as text with spaces: control characters (U+0001 starts a command), private-use
 * characters (used internally) and lone surrogates. Breaks up `[[`, which starts phonemes. Inserts spaces and pauses
 * where espeak-ng would skip text or crash, and removes pauses after abbreviations. `language` is the language of the
 * voice (ISO 639-1).
 */
export function toSpeakable(text: string, language?: string | null): string {
  const clean = text.replace(/[^\P{Cc}\n]|[\p{Cs}\p{Co}]/gu, ' ').replace(/\[(?=\[)/g, '[ ');
  return withPauses(withAbbreviationsApart(withoutStops(withSymbolsApart(clean), expanded.get(language ?? ''))));
}

/** Abbreviations that espeak-ng speaks as whole words, but only with their period. */
const expanded: ReadonlyMap<string, RegExp> = new Map([
  ['hu', /(?<!\p{L})(?:dr|mr|ún|vö|id|ifj|özv)$/iu],
  ['it', /(?<!\p{L})(?:dr|mr|col)$/iu],
]);

/** UTF-16 code units before and after a period that decide whether it ends a sentence. */
const [before, after] = [32, 6];

/**
 * Removes the periods of abbreviations before capital letters, caseless letters and numbers, where espeak-ng ends the
 * sentence.
 */
function withoutStops(text: string, needed = /(?!)/): string {
  return text.replace(/\.([^\S\n]+)(?=[\p{Lu}\p{Lo}\p{N}])/gu, (stop, space: string, index: number) => {
    const word = text.slice(Math.max(0, index - before), index);
    const start = index + stop.length;
    const isStop = abbreviationAt(word, text.slice(start, start + after)) !== 'never' || needed.test(word);
    return isStop ? stop : space;
  });
}

/** espeak-ng reads consecutive dotted letters (`z.B. u.a.`) as one word, and a long one overflows its stack. */
function withAbbreviationsApart(text: string): string {
  return text.replace(/(?:\p{L}\.\s?){8}(?=\p{L}\.)/gu, '$&, ');
}

/** For adjacent emoji, espeak-ng says only the first word of each name: "party" for "party popper". */
function withSymbolsApart(text: string): string {
  return text.replace(/(?:[^\P{S}\0-\x7f][\p{M}\u200d]*){2,}/gu, (run) =>
    Array.from(graphemes.segment(run), ({ segment }) => segment).join(' '),
  );
}

// --------------------------------------------------------------------------------------------------------- pauses

/** Maximum word length in code points. espeak-ng truncates Thai words of 72 or more and Korean words of 52 or more. */
const maxWord = 50;

/** The maximum for letters that are spelled out: the name of `W` alone takes a twentieth of the word buffer. */
const maxSpelled = 16;
const spelled = /^(?:[\p{Lu}b-df-hj-np-tv-xz]\.?)+\s*$/u;

/** Maximum clause length in estimated phonemes. espeak-ng truncates clauses of 1,000 phonemes or 300 words. */
const maxClause = 900;

/** Maximum phonemes per character: symbols are read by name, and numbers are long in some languages. */
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

/**
 * Chinese punctuation needs no space after it. A period may belong to an abbreviation or a number. espeak-ng knows the
 * punctuation of Greek, Arabic, Armenian, Ethiopic and the scripts of India, but not of Burmese.
 */
const clauseEnd = /(?<=[,:;!?…،؛؟۔։՝।॥።-፧]\s|\p{L}{2}\.\s{1,2}(?=\p{Lu})|[。．，、：；！？]|\n\n)/u;

/** For espeak-ng, a clause without any of these ends only at an empty line. */
const letterOrDigit = /[\p{L}\p{Nd}]/u;
const emptyLine = '\n\n';

/** Fast path for most prose: short words in a short clause always fit. */
const alwaysFits = /^(?=[^]{1,100}$)(?:\p{Script=Latin}{1,16}(?:['’-]\p{Script=Latin}{1,16})?[,.:;!?]?\s)+$/u;

/** Inserts spaces into long words, and commas or empty lines into long clauses, at word boundaries where possible. */
function withPauses(text: string): string {
  let spoken = '';
  let [letters, phonemes, isSpeech] = [0, 0, false];
  for (const clause of text.split(clauseEnd)) {
    if (letters === 0 && phonemes === 0 && alwaysFits.test(clause)) {
      spoken += clause;
      continue;
    }
    for (const part of partsOf(clause)) {
      const [more, morePhonemes] = [codePointsIn(part), phonemesIn(part)];
      if (phonemes + morePhonemes > maxClause) {
        spoken += isSpeech ? ', ' : emptyLine;
        [letters, phonemes, isSpeech] = [0, 0, false];
      } else if (letters + more > maxLengthOf(part)) {
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

/** Words with their trailing spaces; long words are split further. */
function partsOf(clause: string): string[] {
  return clause.split(/(?<=\s)(?=\S)/u).flatMap((word) => {
    if (codePointsIn(word) <= maxLengthOf(word)) return [word];
    return Array.from(words.segment(word), ({ segment }) => segment).flatMap(cut);
  });
}

function cut(word: string): string[] {
  return word.match(new RegExp(`[^]{1,${maxLengthOf(word)}}`, 'gu')) ?? [];
}

function maxLengthOf(part: string): number {
  return spelled.test(part) ? maxSpelled : maxWord;
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
