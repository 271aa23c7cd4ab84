/** Cuts a recording at its quietest points into pieces of the length that a model accepts. */
import { quietestPlace } from '../../lib/quietest-place.ts';
import { sampleRate } from '../../lib/wav.ts';

export interface Piece {
  /** Offset of the piece, in samples. */
  readonly start: number;
  readonly samples: Int16Array;
}

/** A piece uses memory in proportion to its length, and its features are computed synchronously. */
const maxSamples = 30 * sampleRate;
/** A piece ends at the quietest point of its last 10 s. */
const searchMs = 10_000;

/** Yields pieces at 16 kHz. The samples of a piece are valid until the next piece is requested. */
export async function* piecesOf(audio: AsyncIterable<Int16Array>): AsyncGenerator<Piece> {
  const buffer = new Int16Array(maxSamples);
  let [start, filled] = [0, 0];
  for await (const chunk of audio) {
    for (let at = 0; at < chunk.length;) {
      if (filled === maxSamples) {
        const end = quietestPlace(buffer, searchMs);
        yield { start, samples: buffer.subarray(0, end) };
        buffer.copyWithin(0, end);
        start += end;
        filled -= end;
      }
      const part = chunk.subarray(at, at + maxSamples - filled);
      buffer.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  if (filled > 0) yield { start, samples: buffer.subarray(0, filled) };
}
