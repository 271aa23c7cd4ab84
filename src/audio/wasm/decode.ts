/** Decodes a file to blocks of samples. Decoders are loaded lazily: loading takes most of the time of a short decode. */
import type { Container } from '../../../engines/contract/index.ts';
import { pieces, withFile } from './file-bytes.ts';
import type { Pcm } from './pcm.ts';

type Blocks = Iterable<Pcm> | AsyncIterable<Pcm>;

/** Small, so that a decoded piece stays small even at the lowest bit rate. */
const mp3PieceBytes = 4096;

/** Yields blocks of at most a few seconds, decoded lazily. */
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
  const decoder = await mp3Decoder();
  return withFile(path, function* (file, fileBytes) {
    for (const piece of pieces(file, 0, fileBytes, mp3PieceBytes)) yield decoder(piece);
  });
}
