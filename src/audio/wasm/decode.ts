/**
 * Decodes a file into blocks of samples. Decoders are loaded lazily, because loading takes most of the time for a short
 * recording.
 */
import type { Container } from '../../../engines/contract/index.ts';
import { withFile } from '../../../lib/recording/file-bytes.ts';
import type { Pcm } from './pcm.ts';

type Blocks = Iterable<Pcm> | AsyncIterable<Pcm>;

/** Returns blocks of at most a few seconds, decoded lazily. */
export async function decode(path: string, container: Container): Promise<Blocks> {
  switch (container) {
    case 'wav':
      return (await import('./wav-reader.ts')).readWav(path);
    case 'mp3':
      return decodeMp3(path);
    default:
      return (await import('./packets.ts')).decodePackets(path, container);
  }
}

async function decodeMp3(path: string): Promise<Blocks> {
  const { mp3Decoder } = await import('./codecs/mp3.ts');
  const { mp3Pieces } = await import('../../../lib/recording/mp3-frames.ts');
  const decode = await mp3Decoder();
  return withFile(path, function* (file, fileBytes) {
    for (const { sampleRate, bytes } of mp3Pieces(file, fileBytes)) yield { ...decode(bytes), sampleRate };
  });
}
