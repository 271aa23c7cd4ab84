import { expect, it } from 'vitest';
import { awaitFirstChunk } from '../../../engines/lib/await-first-chunk.ts';

const empty = () => new Error('no sound');
const piece = new Uint8Array([1]);

/** Counts how often the source is closed. */
function source(): { audio: AsyncIterable<Uint8Array>; readonly closed: number } {
  const counts = { closed: 0 };
  // eslint-disable-next-line @typescript-eslint/require-await -- an engine's audio is an async iterable
  async function* audio() {
    try {
      for (;;) yield piece;
    } finally {
      counts.closed += 1;
    }
  }
  return {
    audio: audio(),
    get closed() {
      return counts.closed;
    },
  };
}

it.each([0, 1, 2, 3])('closes the audio when the reader stops after %i pieces', async (pieces) => {
  const made = source();
  let ends = 0;
  const { audio } = await awaitFirstChunk(
    { mediaType: 'audio/wav', audio: made.audio },
    { end: () => (ends += 1), empty },
  );
  const iterator = audio[Symbol.asyncIterator]();
  for (let read = 0; read < pieces; read++) expect(await iterator.next()).toEqual({ done: false, value: piece });
  await iterator.return?.();
  expect({ closed: made.closed, ends }).toEqual({ closed: 1, ends: 1 });
});
