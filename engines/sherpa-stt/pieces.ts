/** Cuts a recording at its quietest points into pieces of the length that a model accepts. */
import { quietestPlace } from '../../lib/quietest-place.ts';
import { sampleRate } from '../../lib/wav.ts';

export interface Piece {
  /** Offset of the piece, in samples. */
  readonly start: number;
  readonly samples: Int16Array;
}

/**
 * Yields pieces of at most `maxSeconds`, at 16 kHz. Each piece but the last ends at the quietest point of the last
 * third of that length. The samples of a piece are valid until the next piece is requested.
 */
export async function* piecesOf(audio: AsyncIterable<Int16Array>, maxSeconds: number): AsyncGenerator<Piece> {
  const maxSamples = maxSeconds * sampleRate;
  const searchMs = Math.floor((100 * maxSeconds) / 3) * 10; // whole frames
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
