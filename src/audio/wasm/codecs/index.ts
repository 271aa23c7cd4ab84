import { deinterleave, sampleFormats, type SampleFormatName } from '../../../../lib/samples.ts';
import { unsupportedCodec } from '../needs-ffmpeg.ts';
import type { Pcm } from '../pcm.ts';
import type { Track } from '../track.ts';

export type PacketDecoder = (packet: Uint8Array) => Pcm | Promise<Pcm>;

/** The decoder for the packets of a track, loaded lazily. */
export async function decoderFor(track: Track): Promise<PacketDecoder> {
  switch (track.codec) {
    case 'opus':
      return (await import('./opus.ts')).opusDecoder(track);
    case 'vorbis':
      return (await import('./vorbis.ts')).vorbisDecoder(track);
    case 'flac':
      return (await import('./flac.ts')).flacDecoder();
    case 'mp3':
      return (await import('./mp3.ts')).mp3Decoder();
    default:
      return pcmDecoder(track);
  }
}

function pcmDecoder({ codec, codecId, container, sampleRate, channels }: Track): PacketDecoder {
  if (codec === null || !(codec in sampleFormats)) throw unsupportedCodec(container, codecId);
  const format = sampleFormats[codec as SampleFormatName];
  return (packet) => ({ sampleRate, channels: deinterleave(packet, format, channels) });
}
