import type { Speech } from '../contract/index.ts';

export interface Beginning {
  /** Called when the audio is over: read to its end, broken off, or left, even before anybody has read of it. */
  readonly end: () => void;
  /** What is thrown when there is no audio at all. */
  readonly empty: () => Error;
}

/** The speech, once its first bytes are there. */
export async function begin({ mediaType, audio }: Speech, { end, empty }: Beginning): Promise<Speech> {
  const chunks = audio[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) throw empty();
  const { value } = first;
  async function* resumed(): AsyncGenerator<Uint8Array> {
    try {
      yield value; // for the call below: only what has begun runs its `finally` when it is left
      yield value;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      end();
      await chunks.return?.(); // left before `yield*` has begun, nothing else would end it
    }
  }
  const speech = resumed();
  await speech.next();
  return { mediaType, audio: speech };
}
