import { MPEGDecoder } from 'mpg123-decoder';
import type { Pcm } from '../pcm.ts';

/**
 * The decoder accepts packets, or a complete mp3 file in pieces of any length; for a file, it removes the encoder
 * padding.
 */
export async function mp3Decoder(): Promise<(piece: Uint8Array) => Pcm> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return (piece) => {
    const { channelData, sampleRate } = decoder.decode(piece);
    return { sampleRate, channels: channelData };
  };
}
