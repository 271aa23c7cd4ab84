import { MPEGDecoder } from 'mpg123-decoder';
import type { Pcm } from '../pcm.ts';

/** Takes packets, or a whole mp3 file in pieces of any length: then it leaves out the encoder's padding. */
export async function mp3Decoder(): Promise<(piece: Uint8Array) => Pcm> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return (piece) => {
    const { channelData, sampleRate } = decoder.decode(piece);
    return { sampleRate, channels: channelData };
  };
}
