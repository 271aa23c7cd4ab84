import { Readable } from 'node:stream';

/** Yields the chunks and never ends. */
export function stalled(...chunks: readonly string[]): Readable {
  const rest = [...chunks];
  return new Readable({
    read() {
      const next = rest.shift();
      if (next !== undefined) this.push(next);
    },
  });
}
