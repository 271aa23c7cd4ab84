/** Regroups PCM so that every chunk contains whole 16-bit samples, for players that play each chunk separately. */

/** Drops an incomplete sample at the end. Not a generator, because its `return()` would wait for the pending chunk. */
export function wholeSamples(audio: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
  const source = audio[Symbol.asyncIterator]();
  let half: Uint8Array = new Uint8Array();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for (;;) {
        const item = await source.next();
        if (item.done) return item;
        const bytes = half.length === 0 ? item.value : Buffer.concat([half, item.value]);
        const whole = bytes.length - (bytes.length % 2);
        half = Uint8Array.from(bytes.subarray(whole));
        if (whole > 0) return { done: false, value: bytes.subarray(0, whole) };
      }
    },
    async return() {
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
}
