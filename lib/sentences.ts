/** Finds the ends of sentences in texts of any language. */
import { abbreviationAt } from './abbreviations.ts';
import { endsOfSentences } from './sentence-ends.ts';

/** Yields the offset of the end of each sentence and line, including trailing white space. */
export const sentenceEnds = (text: string): Generator<number> =>
  endsOfSentences(text, (before, next) => abbreviationAt(before, next) !== undefined);

/** Number of UTF-16 units examined before a word to decide whether it begins a sentence. */
const examined = 32;

/** Whether a sentence ends between the text and the word after it, which may lack its capital letter. */
export function isSentenceEnd(text: string, next: string): boolean {
  const before = text.slice(-examined);
  if (!/[\p{P}…]$/u.test(before)) return false;
  const start = before.length + 1;
  const ends = sentenceEnds(`${before} ${next.charAt(0).toUpperCase()}${next.slice(1)}`);
  return Array.from(ends).includes(start);
}
