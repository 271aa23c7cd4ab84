/** Composes letters with their accents, and replaces styled letters with plain ones. Pure, in linear time. */

/**
 * Matches the sequences that NFC changes, apart from `styled`: a letter with marks, and the parts of a Hangul syllable.
 * Node.js sorts the marks of one letter in quadratic time, so at most 30 of them are matched (the limit of UAX #15).
 */
const composable = /\P{M}\p{M}{1,30}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/gu;

/** NFC decomposes these Bengali letters, and eSpeak NG then drops the vowel that follows. */
const bengaliLetters = new Map(['\u09dc', '\u09dd', '\u09df'].map((letter) => [letter.normalize('NFC'), letter]));

/** File names and texts from macOS contain decomposed accents, which voices would spell out. */
export function composed(text: string): string {
  const composedText = text.replace(composable, (run) => run.normalize('NFC'));
  return composedText.replace(/[\u09a1\u09a2\u09af]\u09bc/g, (pair) => bengaliLetters.get(pair) ?? pair);
}

/**
 * Unicode blocks whose letters and digits only look different from plain ones: letter-like symbols and mathematical
 * letters (styled text), Roman numerals, letters in circles and squares, compatibility ideographs, ligatures,
 * presentation forms and full-width forms. The other characters that NFKC changes would lose their meaning (x², ½, ™,
 * ①) or are distinct letters in Thai, Lao, Armenian and Korean.
 */
const styled =
  /[[\u2100-\u214f\uf900-\ufdff\ufe70-\ufefe\uff10-\uffef\u{1d400}-\u{1d7ff}\u{1ee00}-\u{1eeff}\u{1fbf0}-\u{1fbf9}]&&[[\p{L}\p{Nd}]--\p{Emoji}]]+|[\u2160-\u217f\u24b6-\u24e9\u{1f130}-\u{1f149}](?!\ufe0f)|\u3000/gv;

/** A single raised letter is an exponent or a phonetic symbol; several form a word or an ending, as in "1ˢᵗ". */
const raised = /[\u02b0-\u02b8\u02e1-\u02e3\u1d2c-\u1d61\u1d9b-\u1dbf\u2071\u207f\u2090-\u209c]{2,}/g;

export function plainLetters(text: string): string {
  const normalize = (letters: string) => letters.normalize('NFKC');
  return composed(text.replace(styled, normalize).replace(raised, normalize));
}
