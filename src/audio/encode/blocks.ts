/** Regroups samples into blocks. */

/** Samples per block. */
export interface BlockSize {
  /** Minimum size of every block except the last. */
  readonly min: number;
  readonly max: number;
}

/**
 * Yields a block as soon as `min` samples have arrived. The first block contains no more than that, because a listener
 * is waiting for it.
 */
export async function* blocksOf(
  samples: AsyncIterable<Int16Array>,
  { min, max }: BlockSize,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const held = new Int16Array(max);
  let [filled, limit] = [0, min];
  for await (const chunk of samples) {
    for (let taken = 0; taken < chunk.length;) {
      const part = chunk.subarray(taken, taken + limit - filled);
      held.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < min) continue;
      yield held.slice(0, filled);
      [filled, limit] = [0, max];
    }
  }
  if (filled > 0) yield held.slice(0, filled);
}
