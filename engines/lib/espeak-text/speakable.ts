import { withPauses } from './pauses.ts';

/**
 * Removes what espeak-ng does not treat as text: control characters (U+0001 starts a command), `[[` (starts phonemes),
 * private-use characters (used internally) and lone surrogates. Inserts spaces and pauses where espeak-ng would skip text
 * or crash.
 */
export function toSpeakable(text: string): string {
  const clean = text.replace(/[^\P{Cc}\n]|[\p{Cs}\p{Co}]/gu, ' ').replace(/\[(?=\[)/g, '[ ');
  return withPauses(withAbbreviationsApart(withSymbolsApart(clean)));
}

/** espeak-ng reads consecutive dotted letters (`z.B. u.a.`) as one word, and a long one overflows its stack. */
function withAbbreviationsApart(text: string): string {
  return text.replace(/(?:\p{L}\.\s?){8}(?=\p{L}\.)/gu, '$&, ');
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** For adjacent emoji espeak-ng says only the first word of each name: "party" for "party popper". */
function withSymbolsApart(text: string): string {
  return text.replace(/(?:[^\P{S}\0-\x7f][\p{M}\u200d]*){2,}/gu, (run) =>
    Array.from(graphemes.segment(run), ({ segment }) => segment).join(' '),
  );
}
