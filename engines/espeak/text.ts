/**
 * The text without what espeak-ng takes for something else than text: control characters (U+0001 begins a command),
 * `[[`, which begins phonemes, private characters, which it uses itself, and halves of surrogate pairs.
 */
export function toSpeakable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\p{Cs}\p{Co}]/gu, ' ').replace(/\[(?=\[)/g, '[ ');
}
