import { createByteReader } from '../../../lib/byte-reader.ts';
import { deinterleave } from '../../../lib/samples.ts';
import { framesOf, readWavHeader, WavError } from '../../../lib/wav-reader.ts';
import { undecodable } from './failures.ts';
import { pieces, withFile } from './file-bytes.ts';
import { assertPlausible, type Pcm } from './pcm.ts';

const pieceBytes = 16_384;

/** Decodes an uncompressed WAV file, piece by piece. */
export async function* readWav(path: string): AsyncGenerator<Pcm> {
  const source = readFile(path);
  try {
    const bytes = createByteReader(source);
    const layout = await readWavHeader(bytes).catch((error: unknown) => {
      throw error instanceof WavError ? undecodable(`it is ${error.message}`) : error;
    });
    const { sampleRate, channels, format } = layout;
    assertPlausible(sampleRate, channels);
    for await (const frames of framesOf(bytes, layout)) {
      yield { sampleRate, channels: deinterleave(frames, format, channels) };
    }
  } finally {
    await source.return(undefined);
  }
}

/** Not a stream: it closes its file in the background, and a thread that is terminated meanwhile leaves it open. */
// eslint-disable-next-line @typescript-eslint/require-await -- the byte reader takes async iterables
async function* readFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* withFile(path, (file, bytes) => pieces(file, 0, bytes, pieceBytes));
}
