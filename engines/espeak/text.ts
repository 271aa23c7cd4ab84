import { withPauses } from './pauses.ts';

/**
 * The text without what espeak-ng takes for something else than text: control characters (U+0001 begins a command),
 * `[[`, which begins phonemes, private characters, which it uses itself, and halves of surrogate pairs. And with a
 * space or a pause where it would leave something out, or break down.
 */
export function toSpeakable(text: string): string {
  const clean = text.replace(/[^\P{Cc}\n]|[\p{Cs}\p{Co}]/gu, ' ').replace(/\[(?=\[)/g, '[ ');
  return withPauses(withAbbreviationsApart(withSymbolsApart(clean)));
}

/** All letters with dots that follow one another (`z.B. u.a.`) are one word to it, and a long one overruns its stack. */
function withAbbreviationsApart(text: string): string {
  return text.replace(/(?:\p{L}\.\s?){8}(?=\p{L}\.)/gu, '$&, ');
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Of emoji that touch it says the first word of each: "party" of "party popper". */
function withSymbolsApart(text: string): string {
  return text.replace(/(?:[^\P{S}\0-\x7f][\p{M}\u200d]*){2,}/gu, (run) =>
    Array.from(graphemes.segment(run), ({ segment }) => segment).join(' '),
  );
}
