/** tokens.txt: a symbol and its id a line. sherpa-onnx ends its process for what throws here. */
import { Unusable, readText } from '../lib/model-files.ts';

/** The tables of NeMo's models have less than 0.1 MB. */
const longestTable = 4_194_304;

const blanks = ['<blk>', '<blank>', '<eps>'];

/** Throws `Unusable`. An id below `size` without a symbol would end the process when it is recognized. */
export function readTokens(file: string, size: number): { readonly marksWords: boolean } {
  const lines = readText(file, longestTable).split('\n').filter((line) => line.trim() !== ''); // prettier-ignore
  const tokens = new Map(lines.map(readLine));
  const symbols = [...tokens.values()];
  if (!symbols.some((symbol) => blanks.includes(symbol))) throw new Unusable('it has no <blk>');
  for (let id = 0; id < size; id += 1)
    if (!tokens.has(id)) throw new Unusable(`it has no token ${id}, but vocab_size is ${size}`);
  return { marksWords: symbols.some((symbol) => /^[▁ ]/.test(symbol)) };
}

/** A line with an id alone is that of the space. */
function readLine(line: string): [id: number, symbol: string] {
  const columns = line.split(/[ \t\r]+/).filter((column) => column !== '');
  const [id = '', symbol = ' ', ...more] = columns.reverse();
  if (!/^\d{1,7}$/.test(id) || more.length > 0) throw new Unusable('a line is not a symbol and its id');
  return [Number(id), symbol];
}
