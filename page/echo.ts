/** Recognizes the voice of the page in what the microphone heard. Pure. */

/** Shorter utterances may be the user's own, who repeats a word of the answer. In letters and digits. */
const shortest = 20;
/** A word at the beginning or end may be cut off, and transcribed as another. */
const margin = 4;

export function isEcho(heard: string, said: string): boolean {
  const letters = lettersOf(heard);
  return letters.length >= shortest && lettersOf(said).includes(letters.slice(margin, -margin));
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
