import { FLACDecoder } from '@wasm-audio-decoders/flac';
import type { Pcm } from '../pcm.ts';
import type { Track } from '../track.ts';

export async function flacDecoder({ sampleRate }: Track): Promise<(packet: Uint8Array) => Promise<Pcm>> {
  const decoder = new FLACDecoder();
  await decoder.ready;
  return async (packet) => {
    const { channelData } = await decoder.decodeFrames([packet]);
    return { sampleRate, channels: channelData };
  };
}
