import { OpusDecoder } from 'opus-decoder';
import { sampleRate } from '../../../../lib/wav.ts';
import { assertPlausible, type Pcm } from '../pcm.ts';
import type { Track } from '../track.ts';

/** The Opus decoder outputs 16 kHz directly, with its own low-pass filter. */
export async function opusDecoder(track: Track): Promise<(packet: Uint8Array) => Pcm> {
  const decoder = new OpusDecoder({ sampleRate, ...readHeader(track) });
  await decoder.ready;
  return (packet) => {
    const { channelData, errors } = decoder.decodeFrame(packet);
    const [error] = errors;
    if (error) throw new Error(error.message);
    return { sampleRate, channels: channelData };
  };
}

const headerBytes = 19;

/** Reads the header (RFC 7845, section 5.1). Without one, assumes one or two channels and no pre-skip. */
function readHeader({ description, channels }: Track): ConstructorParameters<typeof OpusDecoder>[0] {
  if (description.length < headerBytes) return { channels };
  const view = new DataView(description.buffer, description.byteOffset, description.byteLength);
  const channelCount = view.getUint8(9);
  assertPlausible(sampleRate, channelCount);
  const preSkip = Math.round((view.getUint16(10, true) * sampleRate) / 48_000);
  const mappingFamily = view.getUint8(18);
  if (mappingFamily === 0) return { channels: channelCount, preSkip };
  const mapping = description.subarray(headerBytes, headerBytes + 2 + channelCount);
  const [streamCount = 0, coupledStreamCount = 0, ...channelMappingTable] = mapping;
  return { channels: channelCount, preSkip, streamCount, coupledStreamCount, channelMappingTable };
}
