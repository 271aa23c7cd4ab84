/** Colors the elements that most languages have in common: comments, strings, numbers and keywords. Pure. */

export type CodeKind = 'comment' | 'string' | 'number' | 'word';

/** Longer code is not colored. */
const maxLength = 10_000;

const words =
  'abstract and as async await bool boolean break case catch char class const continue def default del delete do done ' +
  'double echo elif else end enum esac except export extends extern false fi final finally float fn for from func function if ' +
  'impl implements import in int interface is lambda let long loop match mod module mut new nil None not null or package ' +
  'pass private protected pub public raise return select self static string struct super switch template then this throw ' +
  'throws trait True False true try type typeof undefined union unsigned until use using var void where while with yield ' +
  'CREATE DELETE FROM GROUP INSERT INTO JOIN ORDER BY SELECT SET TABLE UPDATE VALUES WHERE';

const isWord: ReadonlySet<string> = new Set(words.split(' '));

/** A comment without an end extends to the end of the code. */
const tokens =
  /(\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|(?<=^|\s)#[^\n]*|--\s[^\n]*|<!--[^]*?(?:-->|$))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

/** Returns the code in pieces; pieces without a kind have no color. */
export function highlight(code: string): readonly (readonly [text: string, kind?: CodeKind])[] {
  if (code.length > maxLength) return [[code]];
  const pieces: (readonly [string, CodeKind?])[] = [];
  let at = 0;
  for (const { index, 0: text, 1: comment, 2: string, 3: number } of code.matchAll(tokens)) {
    const kind = comment ? 'comment' : string ? 'string' : number ? 'number' : isWord.has(text) ? 'word' : undefined;
    if (!kind) continue;
    pieces.push([code.slice(at, index)], [text, kind]);
    at = index + text.length;
  }
  return [...pieces, [code.slice(at)] as const].filter(([text]) => text !== '');
}
