import { FLACDecoder } from '@wasm-audio-decoders/flac';
import type { Pcm } from '../pcm.ts';

export async function flacDecoder(): Promise<(packet: Uint8Array) => Promise<Pcm>> {
  const decoder = new FLACDecoder();
  await decoder.ready;
  return async (packet) => {
    const { channelData, sampleRate } = await decoder.decodeFrames([packet]);
    return { sampleRate, channels: channelData };
  };
}
