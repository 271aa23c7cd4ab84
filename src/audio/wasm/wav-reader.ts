import { createReadStream } from 'node:fs';
import { createByteReader } from '../../../lib/byte-reader.ts';
import { deinterleave } from '../../../lib/samples.ts';
import { framesOf, readWavHeader, WavError } from '../../../lib/wav-reader.ts';
import { undecodable } from './failures.ts';
import { assertPlausible, type Pcm } from './pcm.ts';

const pieceBytes = 16_384;

/** Decodes an uncompressed WAV file, piece by piece. */
export async function* readWav(path: string): AsyncGenerator<Pcm> {
  const bytes = createByteReader(createReadStream(path, { highWaterMark: pieceBytes }));
  const layout = await readWavHeader(bytes).catch((error: unknown) => {
    throw error instanceof WavError ? undecodable(`it is ${error.message}`) : error;
  });
  const { sampleRate, channels, format } = layout;
  assertPlausible(sampleRate, channels);
  for await (const frames of framesOf(bytes, layout)) {
    yield { sampleRate, channels: deinterleave(frames, format, channels) };
  }
}
