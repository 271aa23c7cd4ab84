import { OpusDecoder } from 'opus-decoder';
import { sampleRate } from '../../wav.ts';
import type { Track } from '../packets.ts';
import type { Pcm } from '../pcm.ts';

/** Opus decodes to 16 kHz by itself, with its own low-pass. */
export async function opusDecoder(track: Track): Promise<(packet: Uint8Array) => Pcm> {
  const decoder = new OpusDecoder({ sampleRate, ...readHeader(track) });
  await decoder.ready;
  return (packet) => {
    const { channelData } = decoder.decodeFrame(packet);
    return { sampleRate, channels: channelData };
  };
}

/** RFC 7845, section 5.1; a stream without a header has one or two channels and nothing to skip. */
function readHeader({ description: header, channels }: Track) {
  if (header.length < 19) return { channels };
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const preSkip = Math.round((view.getUint16(10, true) * sampleRate) / 48_000);
  const mappingFamily = view.getUint8(18);
  if (mappingFamily === 0) return { channels, preSkip };
  const channelMappingTable = [...header.subarray(21, 21 + channels)];
  return {
    channels,
    preSkip,
    streamCount: view.getUint8(19),
    coupledStreamCount: view.getUint8(20),
    channelMappingTable,
  };
}
