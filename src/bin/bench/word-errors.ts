/** The word error rate: the number of wrong, missing and extra words in a transcript, per spoken word. */

/** In scripts without spaces, each character counts as a word. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*/gu;

/** Case, punctuation and apostrophes within words do not count. */
export function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '');
  return plain.replaceAll(unspaced, ' $& ').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * Returns the edit distance in words divided by the number of words in `expected`. It exceeds 1 if the transcript is
 * much too long.
 */
export function wordErrorRate(expected: string, heard: string): number {
  const said = wordsOf(expected);
  let distances = Array.from({ length: said.length + 1 }, (_, length) => length);
  for (const [at, word] of wordsOf(heard).entries()) {
    const row = [at + 1];
    for (const [index, other] of said.entries()) {
      const before = distances[index] ?? 0;
      row.push(word === other ? before : 1 + Math.min(before, distances[index + 1] ?? 0, row[index] ?? 0));
    }
    distances = row;
  }
  return (distances.at(-1) ?? 0) / said.length;
}
