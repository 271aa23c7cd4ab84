/** Tool calls and reasoning in very many parts, for their tests and for the benchmark of what putting them together costs. */

export type Part = Readonly<Record<string, unknown>>;
export type Kind = (text: string, at: number) => Part;

export const many = 60_000;

export const named = (index: number, text: string, id = `c${index}`) => ({
  ...{ index, id },
  function: { name: 'echo', arguments: text },
});

/** How providers stream the parts of a call: its head once, or with every part. */
export const callKinds: Readonly<Record<string, Kind>> = {
  'with an index': (text, at) => (at === 0 ? named(0, text) : { index: 0, function: { arguments: text } }),
  'with the name in every part': (text) => named(0, text),
  'with an id and the name in every part': (text) => ({ id: 'c0', function: { name: 'echo', arguments: text } }),
  'with neither': (text, at) => (at === 0 ? named(0, text) : { function: { arguments: text } }),
};

/** `{"n":"xxxx..."}` split into this many pieces. */
export const pieces = (count: number) => ['{"n":"', ...Array.from({ length: count - 2 }, () => 'x'.repeat(10)), '"}'];

/** With the number of blocks that `count` pieces become. */
export const reasoningKinds: Readonly<
  Record<string, { readonly pieceOf: (at: number) => Part; readonly blocks: (count: number) => number }>
> = {
  'in one block': { pieceOf: () => ({ type: 'reasoning.text', index: 0, text: 'x'.repeat(20) }), blocks: () => 1 },
  'in a block each': {
    pieceOf: (at) => ({ type: 'reasoning.summary', index: at, summary: 'x' }),
    blocks: (count) => count,
  },
  'that are encrypted': {
    pieceOf: (at) => ({ type: 'reasoning.encrypted', index: at, data: 'x' }),
    blocks: (count) => count,
  },
  'with separate field names': {
    pieceOf: (at) => ({ type: 'reasoning.text', index: 0, text: 'x', [`field${at}`]: 1 }),
    blocks: () => 1,
  },
};
