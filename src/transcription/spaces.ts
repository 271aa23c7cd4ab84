/** Finds the spaces between the parts of a transcript: languages such as Japanese, Chinese and Thai have no spaces. */
import { separatorOf } from '../../lib/join-texts.ts';
import type { TimedText } from '../../engines/contract/index.ts';

/** Providers omit punctuation from words, so the next part may begin up to this many characters after the last one. */
const reach = 32;

/**
 * Returns " " for each part that follows a space in the text, otherwise "". For parts that the text does not contain,
 * the script decides whether a space is used.
 */
export function spacesBefore(parts: readonly TimedText[], text: string): readonly string[] {
  let at = 0;
  return parts.map(({ text: part }, index) => {
    const found = text.slice(at, at + part.length + reach).indexOf(part);
    if (found < 0) return separatorOf(parts[index - 1]?.text ?? '', part);
    const start = at + found;
    at = start + part.length;
    return start > 0 && /\s/.test(text.charAt(start - 1)) ? ' ' : '';
  });
}
