/** Checks tokens.txt: each line is a symbol and its id. If the file is wrong, the library exits or loses words. */
import { Unusable, explained, readText } from '../lib/model-files.ts';

export interface TokenRules {
  /**
   * Every id below this number must have a symbol; the other ids represent no speech. Defaults to the number of lines
   * if not specified.
   */
  readonly size?: number;
  /** The id that the blank must have: any, or the last one. If not specified, no blank is required. */
  readonly blank?: 'any' | 'last';
  /** The symbols are written in base64. */
  readonly isBase64?: boolean;
}

/** The tables of these models are smaller than 1 MB. */
const maxBytes = 4_194_304;

const blanks = ['<blk>', '<blank>', '<eps>'];

/** Returns whether the symbols mark where words begin. Throws as `explained` does. */
export function checkTokens(path: string, rules: TokenRules): boolean {
  return explained(path, () => {
    const tokens = readTokens(path, rules.isBase64 === true ? fromBase64 : String);
    const symbols = [...tokens.values()];
    checkBlank(tokens, rules);
    const size = rules.size ?? tokens.size;
    for (let id = 0; id < size; id += 1) if (!tokens.has(id)) throw new Unusable(`it has no token ${id} of ${size}`);
    return symbols.some((symbol) => /^[▁ ]/.test(symbol));
  });
}

function checkBlank(tokens: ReadonlyMap<number, string>, { blank, size }: TokenRules): void {
  if (blank === undefined) return;
  const isBlank = (symbol: string | undefined) => symbol !== undefined && blanks.includes(symbol);
  if (!tokens.values().some(isBlank)) throw new Unusable('it has no <blk>');
  if (blank === 'last' && (!isBlank(tokens.get(size ?? 0)) || tokens.size !== (size ?? 0) + 1))
    throw new Unusable(`its last token is not <blk> with the id ${String(size)}`);
}

function readTokens(path: string, decode: (symbol: string) => string): Map<number, string> {
  const lines = readText(path, maxBytes)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const tokens = new Map(lines.map((line) => readLine(line, decode)));
  if (tokens.size < lines.length) throw new Unusable('two lines have the same id');
  if (tokens.size === 0) throw new Unusable('it is empty');
  return tokens;
}

/** A line without a symbol is the token of the space. */
function readLine(line: string, decode: (symbol: string) => string): [id: number, symbol: string] {
  const columns = line.split(/[ \t\r]+/).filter((column) => column !== '');
  const [id = '', symbol, ...more] = columns.reverse();
  if (!/^\d{1,7}$/.test(id) || more.length > 0) throw new Unusable('a line is not a symbol and its id');
  return [Number(id), symbol === undefined ? ' ' : decode(symbol)];
}

function fromBase64(symbol: string): string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(symbol)) throw new Unusable('a symbol is not in base64');
  return Buffer.from(symbol, 'base64').toString();
}
