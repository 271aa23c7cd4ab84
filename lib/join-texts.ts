/** Joins texts that were spoken one after the other. Scripts such as Han, Kana and Thai have no spaces between words. */

const unspaced = ['Han', 'Hira', 'Kana', 'Bopo', 'Thai', 'Laoo', 'Khmr', 'Mymr', 'Tibt']
  .map((script) => `\\p{scx=${script}}`)
  .join('');
/** Full-width punctuation, which contains its own space. */
const wide = String.raw`\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`;
const [endsWide, beginsWide] = [new RegExp(`[${wide}]$`, 'u'), new RegExp(`^[${wide}]`, 'u')];
const hasUnspaced = new RegExp(`[${unspaced}]`, 'u');
/** Other punctuation, such as quotation marks, does not matter. */
const [endsUnspaced, beginsUnspaced] = [
  new RegExp(`[${unspaced}]\\p{M}*\\p{P}*$`, 'u'),
  new RegExp(`^\\p{P}*[${unspaced}]`, 'u'),
];

/** Number of UTF-16 units examined on each side of the join. */
const reach = 16;

/** Returns what to write between two texts, which have no white space around them. */
export function separatorOf(before: string, after: string): '' | ' ' {
  const [end, begin] = [before.slice(-reach), after.slice(0, reach)];
  if (end === '' || begin === '' || endsWide.test(end) || beginsWide.test(begin)) return '';
  return endsUnspaced.test(end) && beginsUnspaced.test(begin) ? '' : ' ';
}

/** Whether the text has letters of a script without spaces between words. */
export const isUnspaced = (text: string): boolean => hasUnspaced.test(text);

/** Trims the texts, and leaves out empty ones. */
export function joinTexts(texts: readonly string[]): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== '');
  return parts.map((text, index) => separatorOf(parts[index - 1] ?? '', text) + text).join('');
}
