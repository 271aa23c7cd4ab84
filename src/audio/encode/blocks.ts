/** Regroups samples into blocks. */

/** Samples per block. */
export interface BlockSize {
  /** Minimum size of a block, except the last one. */
  readonly least: number;
  readonly most: number;
}

/**
 * Yields a block as soon as `least` samples have arrived. The first block has no more, because a listener waits for it.
 */
export async function* blocksOf(
  samples: AsyncIterable<Int16Array>,
  { least, most: largest }: BlockSize,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const held = new Int16Array(largest);
  let [filled, most] = [0, least];
  for await (const chunk of samples) {
    for (let taken = 0; taken < chunk.length;) {
      const part = chunk.subarray(taken, taken + most - filled);
      held.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < least) continue;
      yield held.slice(0, filled);
      [filled, most] = [0, largest];
    }
  }
  if (filled > 0) yield held.slice(0, filled);
}
