/** Reads a stream of chunks with lookahead. */
export interface ByteReader {
  /** The next `count` bytes without consuming them; fewer only at the end. */
  peek(count: number): Promise<Buffer>;
  /** Consumes the next bytes. */
  skip(count: number): Promise<void>;
  /** Streams the remaining bytes. */
  rest(): AsyncGenerator<Uint8Array>;
}

export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);

  async function more(): Promise<boolean> {
    const next = await iterator.next();
    if (next.done) return false;
    held = Buffer.concat([held, next.value]);
    return true;
  }

  return {
    async peek(count) {
      while (held.length < count && (await more()));
      return held.subarray(0, count);
    },
    async skip(count) {
      let left = count;
      while (left > 0 && (held.length > 0 || (await more()))) {
        const taken = Math.min(left, held.length);
        held = held.subarray(taken);
        left -= taken;
      }
    },
    async *rest() {
      if (held.length > 0) yield held;
      yield* { [Symbol.asyncIterator]: () => iterator };
    },
  };
}
