/** Reads the length that a file states, without decoding it. */
import { statSync } from 'node:fs';
import { Input } from 'mediabunny';
import type { Container } from '../../../engines/contract/index.ts';
import { withFile } from '../../../lib/recording/file-bytes.ts';
import { viewedSource } from '../../../lib/recording/file-view.ts';
import { mp3Frames } from '../../../lib/recording/mp3-frames.ts';
import { formats } from './packets.ts';

/**
 * Returns seconds, those of the first recording of a joined file; undefined if the file states no length, as those of
 * browsers. Ogg states it in the last page, and MP3 in the number of its frames. Throws for a damaged file.
 */
export async function statedSeconds(path: string, container: Exclude<Container, 'wav'>): Promise<number | undefined> {
  if (container === 'mp3') {
    let seconds = 0;
    for (const { frame } of withFile(path, mp3Frames)) seconds += frame.samples / frame.sampleRate;
    return seconds;
  }
  const input = new Input({
    source: viewedSource(path, { start: 0, end: statSync(path).size }),
    formats: formats[container],
  });
  try {
    const tracks = await input.getAudioTracks();
    if (container === 'ogg') return await input.computeDuration(tracks);
    return (await input.getDurationFromMetadata(tracks)) ?? undefined;
  } finally {
    input.dispose();
  }
}
