export type ByteReader = ReturnType<typeof createByteReader>;

/** Reads a stream of chunks with lookahead. */
export function createByteReader(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);

  async function more(): Promise<boolean> {
    const next = await iterator.next();
    if (next.done) return false;
    held = Buffer.concat([held, next.value]);
    return true;
  }

  return {
    /** The next `count` bytes without consuming them; fewer only at the end. */
    async peek(count: number): Promise<Buffer> {
      while (held.length < count && (await more()));
      return held.subarray(0, count);
    },
    /** Consumes the next bytes. */
    async skip(count: number): Promise<void> {
      let left = count;
      while (left > 0 && (held.length > 0 || (await more()))) {
        const taken = Math.min(left, held.length);
        held = held.subarray(taken);
        left -= taken;
      }
    },
    /** Streams the remaining bytes. Breaking out of the loop closes the source. */
    async *rest(): AsyncGenerator<Uint8Array> {
      try {
        if (held.length > 0) yield held;
        yield* { [Symbol.asyncIterator]: () => iterator };
      } finally {
        await iterator.return?.(); // even if the consumer stops before it has read the buffered bytes
      }
    },
  };
}
