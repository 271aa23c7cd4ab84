/** From a recording's file to blocks of samples. Libraries are loaded as needed: most of a short decode's time. */
import type { Container } from '../../../engines/contract/index.ts';
import { pieces, withFile } from './file-bytes.ts';
import type { Pcm } from './pcm.ts';

type Blocks = Iterable<Pcm> | AsyncIterable<Pcm>;

/** Small, so that what one piece decodes to stays small even at the lowest bit rate. */
const mp3PieceBytes = 4096;

/** The recording in blocks of at most a few seconds; what is not read yet has not been decoded either. */
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
