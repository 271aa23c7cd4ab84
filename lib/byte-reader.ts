/** Bytes that come in chunks, looked at before they are taken. */
export interface ByteReader {
  /** The next bytes, without taking them; fewer than `count` only at the end. */
  peek(count: number): Promise<Buffer>;
  /** Takes the next bytes. */
  skip(count: number): Promise<void>;
  /** All that is left, as it comes. */
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
