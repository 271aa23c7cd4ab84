import type { EngineError } from '../../../engines/contract/index.ts';
import { createByteReader } from '../../../lib/byte-reader.ts';
import { deinterleave } from '../../../lib/samples.ts';
import { framesOf, readWavHeader, WavError } from '../../../lib/wav.ts';
import { undecodable } from '../failures.ts';
import { pieces, withFile } from '../../../lib/recording/file-bytes.ts';
import type { FileView } from '../../../lib/recording/file-view.ts';
import { unsupportedCodecs } from './needs-ffmpeg.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import { sectionsOf } from '../sections.ts';

const pieceBytes = 16_384;

/** Decodes an uncompressed WAV file, piece by piece. */
export async function* readWav(path: string): AsyncGenerator<Pcm> {
  for (const section of sectionsOf(path, 'wav')) yield* readSection(path, section);
}

async function* readSection(path: string, section: FileView): AsyncGenerator<Pcm> {
  const source = readFile(path, section);
  try {
    const bytes = createByteReader(source);
    const layout = await readWavHeader(bytes).catch((error: unknown) => {
      throw error instanceof WavError ? refusalOf(path, error) : error;
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

function refusalOf(path: string, { message, format }: WavError): EngineError {
  return format === undefined ? undecodable(`it is ${message}`) : unsupportedCodecs(path, 'wav', [String(format)]);
}

/**
 * Does not use a stream, because streams close their file in the background: a thread terminated in the meantime would
 * leave the file open.
 */
// eslint-disable-next-line @typescript-eslint/require-await -- the byte reader takes async iterables
async function* readFile(path: string, { start, end }: FileView): AsyncGenerator<Uint8Array, void, undefined> {
  yield* withFile(path, (file) => pieces(file, start, end, pieceBytes));
}
