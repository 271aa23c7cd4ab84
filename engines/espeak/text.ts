/**
 * The text without what espeak-ng takes for something else than text: control characters (U+0001 begins a command),
 * `[[`, which begins phonemes, private characters, which it uses itself, and halves of surrogate pairs. And with a
 * pause where it would leave something out: it skips what goes beyond its buffers for a word and for a clause.
 */
export function toSpeakable(text: string): string {
  const clean = text.replace(/[^\P{Cc}\n]|[\p{Cs}\p{Co}]/gu, ' ').replace(/\[(?=\[)/g, '[ ');
  return clean
    .split(clauseEnd)
    .map((clause) => (tooLong.test(clause) || syllablesIn(clause) > mostSyllables ? withPauses(clause) : clause))
    .join('');
}

/** Chinese marks need no space behind them. */
const clauseEnd = /(?<=[.,:;!?…]\s|[。．，、：；！？]|\n\n)/u;

/** In code points, without a space. Thai is cut from 72 on, Korean from 52, spelled letters from 98. */
const longestWord = 50;

/** Chinese and Korean syllables, which take the most room, in a clause. They are cut from 84 on. */
const mostSyllables = 80;

const syllable = /[\p{Script=Han}\p{Script=Hangul}]/gu;
const syllablesIn = (text: string) => text.match(syllable)?.length ?? 0;
const tooLong = new RegExp(`\\S{${longestWord + 1}}`, 'u');
const words = new Intl.Segmenter('en', { granularity: 'word' });
const parts = new RegExp(`[^]{1,${longestWord}}`, 'gu');

/** A space in a long word, a comma in a long clause, between words where there are any. */
function withPauses(clause: string): string {
  let [spoken, letters, syllables] = ['', 0, 0];
  for (const part of [...words.segment(clause)].flatMap(({ segment }) => segment.match(parts) ?? [])) {
    const more = Array.from(part).length;
    const moreSyllables = syllablesIn(part);
    if (syllables + moreSyllables > mostSyllables) {
      spoken += ', ';
      [letters, syllables] = [0, 0];
    } else if (letters + more > longestWord) {
      spoken += ' ';
      letters = 0;
    }
    spoken += part;
    letters = /\s/.test(part) ? 0 : letters + more;
    syllables += moreSyllables;
  }
  return spoken;
}
