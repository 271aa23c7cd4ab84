import { MPEGDecoder } from 'mpg123-decoder';
import type { Pcm } from '../pcm.ts';

/** Takes packets, or a complete mp3 file in pieces of any length, in which case it removes the encoder padding. */
export async function mp3Decoder(): Promise<(piece: Uint8Array) => Pcm> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return (piece) => {
    const { channelData, sampleRate } = decoder.decode(piece);
    return { sampleRate, channels: channelData };
  };
}
