import { joinFirst } from './listing.ts';

/** Returns the valid names, for a message about a wrong one: at most `most` of them, and the one most likely meant. */
export function validNames(names: readonly string[], wrong = '', most = Infinity): string {
  const meant = didYouMean(wrong, names);
  const known = names.length > 0 ? `known: ${joinFirst(names, most)}` : 'none is known';
  return meant === undefined ? known : `did you mean ${meant}? ${known}`;
}

/** The known name most likely meant; undefined if none is similar. */
export function didYouMean(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > maxNameLength) return undefined; // the time grows with the length
  const text = plain(wrong);
  const scored = known.map((name) => ({ name, score: distance(text, plain(name)) }));
  const [nearest] = scored.filter(({ name, score }) => score <= allowed(plain(name))).sort((a, b) => a.score - b.score);
  return nearest?.name ?? known.find((name) => isShortFor(text, plain(name)));
}

const maxNameLength = 200;

/** Treats TRANSCRIBE_MODEL, transcribe-model and transcribeModel as one name. */
const plain = (name: string) => name.replace(/[^a-zA-Z0-9]/g, '').toLowerCase();

const allowed = (name: string) => (name.length < 3 ? 0 : name.length < 7 ? 1 : 2);

/** Matches abbreviations, such as `cmd` for `command`. */
function isShortFor(text: string, name: string): boolean {
  if (text.length < 2 || !name.startsWith(text.charAt(0))) return false;
  let found = 0;
  for (const letter of name) if (letter === text[found]) found += 1;
  return found === text.length;
}

/** Edit distance; swapping two adjacent letters counts as one edit (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1, isSwap ? at(i - 2, j - 2) + 1 : Infinity));
    }
  }
  return at(a.length, b.length);
}
