import { deinterleave, sampleFormats, type SampleFormatName } from '../../../../lib/samples.ts';
import type { Pcm } from '../pcm.ts';
import type { Track } from '../track.ts';

export type PacketDecoder = (packet: Uint8Array) => Pcm | Promise<Pcm>;

export function isDecodable(codec: Track['codec'] | null): codec is Track['codec'] {
  return codec !== null && (codec in decoders || codec in sampleFormats);
}

/** The decoders are loaded lazily. */
const decoders = {
  opus: async (track: Track) => (await import('./opus.ts')).opusDecoder(track),
  vorbis: async (track: Track) => (await import('./vorbis.ts')).vorbisDecoder(track),
  flac: async () => (await import('./flac.ts')).flacDecoder(),
  mp3: async () => (await import('./mp3.ts')).mp3Decoder(),
} satisfies Partial<Record<string, (track: Track) => Promise<PacketDecoder>>>;

/** Returns the decoder for the packets of a track. */
export async function decoderFor(track: Track): Promise<PacketDecoder> {
  const { codec } = track;
  return codec in decoders ? await decoders[codec as keyof typeof decoders](track) : pcmDecoder(track);
}

function pcmDecoder({ codec, sampleRate, channels }: Track): PacketDecoder {
  const format = sampleFormats[codec as SampleFormatName];
  return (packet) => ({ sampleRate, channels: deinterleave(packet, format, channels) });
}
