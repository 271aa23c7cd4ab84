import type { Speech } from '../contract/index.ts';

export interface FirstChunkOptions {
  /** Called once the audio has been read to its end, has failed or has been abandoned, even before the first read. */
  readonly end: () => void;
  /** The error to throw if there is no audio at all. */
  readonly empty: () => Error;
}

/** Resolves with the speech once its first bytes have arrived. */
export async function awaitFirstChunk(
  { mediaType, audio }: Speech,
  { end, empty }: FirstChunkOptions,
): Promise<Speech> {
  const chunks = audio[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) throw empty();
  const { value } = first;
  async function* resumed(): AsyncGenerator<Uint8Array> {
    try {
      yield value; // for the `next()` below: only a generator that has started runs its `finally` on `return()`
      yield value;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      end();
      await chunks.return?.(); // abandoned before `yield*`, when nothing else closes it
    }
  }
  const speech = resumed();
  await speech.next();
  return { mediaType, audio: speech };
}
