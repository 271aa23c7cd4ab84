/**
 * The demuxer derives time from the number of samples in an Ogg stream. Where a page indicates that more time has
 * passed, the stream has a gap.
 */
import type { EncodedPacket } from 'mediabunny';
import { withFile } from '../../../lib/recording/file-bytes.ts';
import type { FileView } from '../../../lib/recording/file-view.ts';
import { soundPages } from '../../../lib/recording/ogg.ts';
import type { Track } from './track.ts';

/** Yields the packets with the timestamps of their pages. */
export async function* inPages(
  packets: AsyncGenerator<EncodedPacket>,
  track: Track,
  section: FileView & { readonly path: string },
): AsyncGenerator<EncodedPacket> {
  let gap = 0;
  for (const page of withFile(section.path, (file) => soundPages(file, section))) {
    const own: EncodedPacket[] = [];
    while (own.length < page.packets) {
      const next = await packets.next();
      if (next.done) break;
      own.push(next.value);
    }
    const last = own.at(-1);
    if (last === undefined) return;
    gap = Math.max(gap, secondsOf(page.samples, track) - last.timestamp - last.duration);
    for (const packet of own) yield gap === 0 ? packet : packet.clone({ timestamp: packet.timestamp + gap });
  }
  yield* packets;
}

/** RFC 7845, section 4: Opus counts samples at 48 kHz, and the first samples (pre-skip) are not played. */
function secondsOf(samples: number, { codec, sampleRate, description }: Track): number {
  if (codec !== 'opus') return samples / sampleRate;
  const view = new DataView(description.buffer, description.byteOffset, description.byteLength);
  return (samples - (view.byteLength < 12 ? 0 : view.getUint16(10, true))) / 48_000;
}
