/** Recognizes the voice of the page in what the microphone picked up. Pure. */

/** Minimum length in letters and digits. A shorter utterance may come from a user who repeats a word of the answer. */
const shortest = 20;
/** A word at the beginning or end may be cut off, and transcribed as another. */
const margin = 4;

export function isEcho(heard: string, said: string): boolean {
  const letters = lettersOf(heard);
  return letters.length >= shortest && lettersOf(said).includes(letters.slice(margin, -margin));
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
