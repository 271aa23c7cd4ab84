/** Demuxes an audio track of a container and decodes it packet by packet, in all sections of the file. */
import {
  EncodedPacketSink,
  FLAC,
  Input,
  MATROSKA,
  MP4,
  OGG,
  QTFF,
  WEBM,
  type EncodedPacket,
  type InputAudioTrack,
  type InputFormat,
} from 'mediabunny';
import { EngineError } from '../../../engines/contract/index.ts';
import { decoderFor } from './codecs/index.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { withFile } from './file-bytes.ts';
import { viewedSource, type FileView } from './file-view.ts';
import { unsupportedCodec } from './needs-ffmpeg.ts';
import { oggCodecIds, sectionsOf } from './sections.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import type { PacketContainer, Track } from './track.ts';

const formats: Readonly<Record<PacketContainer, InputFormat[]>> = {
  webm: [WEBM, MATROSKA],
  mp4: [MP4, QTFF],
  ogg: [OGG],
  flac: [FLAC],
};

export async function* decodePackets(path: string, container: PacketContainer): AsyncGenerator<Pcm> {
  const sections = sectionsOf(path, container);
  for (const [i, section] of sections.entries()) {
    let hasAudio = false;
    try {
      for await (const block of decodeSection(path, container, section)) {
        hasAudio = true;
        yield block;
      }
    } catch (error) {
      const isAtEnd = hasAudio && i === sections.length - 1;
      if (isAtEnd || EngineError.is(error) || isSystemError(error)) throw error;
      throw undecodable(`the ${container} file is damaged before its end`, error);
    }
  }
}

async function* decodeSection(path: string, container: PacketContainer, section: FileView): AsyncGenerator<Pcm> {
  const input = new Input({ source: viewedSource(path, section), formats: formats[container] });
  try {
    const tracks = await input.getAudioTracks();
    if (tracks.length === 0) throw noTrack(path, container, section);
    yield* decodeTrack(await chooseTrack(tracks, container, section), container, section);
  } finally {
    input.dispose();
  }
}

function noTrack(path: string, container: PacketContainer, section: FileView): EngineError {
  if (container !== 'ogg') return undecodable(`no audio track was found in the ${container} file`);
  const ids = [...withFile(path, (file) => oggCodecIds(file, section))];
  return unsupportedCodec('ogg', ...ids);
}

/** Default tracks come first. Of several tracks, some may be silent: the first with sound is the recording. */
async function chooseTrack(
  tracks: readonly InputAudioTrack[],
  container: PacketContainer,
  section: FileView,
): Promise<InputAudioTrack> {
  const isDefault = await Promise.all(tracks.map(async (track) => (await track.getDisposition()).default));
  const ranked = [...tracks.filter((_, i) => isDefault[i]), ...tracks.filter((_, i) => !isDefault[i])];
  if (ranked.length > 1) {
    for (const track of ranked) if (await hasSound(track, container, section)) return track;
  }
  return ranked[0]!;
}

/** -60 dB of full scale. */
const minAmplitude = 0.001;

async function hasSound(audio: InputAudioTrack, container: PacketContainer, section: FileView): Promise<boolean> {
  for await (const { channels } of decodeTrack(audio, container, section)) {
    if (channels.some((samples) => samples.some((sample) => Math.abs(sample) > minAmplitude))) return true;
  }
  return false;
}

async function* decodeTrack(
  audio: InputAudioTrack,
  container: PacketContainer,
  { framesAt, end }: FileView,
): AsyncGenerator<Pcm> {
  const track = await describe(audio, container);
  const decode = await decoderFor(track);
  const count = { packets: 0, bytes: 0, decoded: 0, samples: 0 };
  for await (const packet of packetsOf(audio)) {
    const block = await decode(packet.data);
    const samples = block.channels[0]?.length ?? 0;
    count.packets += 1;
    count.bytes += packet.data.length;
    count.decoded += Math.sign(samples);
    count.samples += samples;
    yield container === 'ogg' ? trimmed(block, packet.duration) : block;
  }
  // The first packet of Vorbis has no samples.
  if (count.decoded < (count.packets - 1) / 2) throw undecodable(`most packets of the ${container} file are damaged`);
  const isCutShort = framesAt !== undefined && framesAt + count.bytes < end;
  if (isCutShort && count.samples !== flacSamples(track))
    throw undecodable(`the ${container} file is damaged before its end`);
}

/** The last packet of an Ogg stream may have more samples than the stream. */
function trimmed({ sampleRate, channels }: Pcm, seconds: number): Pcm {
  const length = Math.round(seconds * sampleRate);
  return { sampleRate, channels: channels.map((samples) => samples.subarray(0, length)) };
}

/** RFC 9639, section 8.2: the STREAMINFO block follows a marker and a header of four bytes each; 0 is unknown. */
function flacSamples({ description }: Track): number {
  const view = new DataView(description.buffer, description.byteOffset, description.byteLength);
  return Number(view.getBigUint64(18) & 0xf_ffff_ffffn);
}

async function describe(audio: InputAudioTrack, container: PacketContainer): Promise<Track> {
  const sampleRate = await audio.getSampleRate();
  const channels = await audio.getNumberOfChannels();
  assertPlausible(sampleRate, channels);
  const config: { description?: ArrayBufferView | ArrayBufferLike } | null = await audio.getDecoderConfig();
  return {
    container,
    codec: await audio.getCodec(),
    codecId: String(await audio.getInternalCodecId()),
    sampleRate,
    channels,
    description: toBytes(config?.description),
  };
}

/** Does not use the sink's own iterator, which drops the packets that it has read ahead when a file is truncated. */
async function* packetsOf(audio: InputAudioTrack): AsyncGenerator<EncodedPacket> {
  const sink = new EncodedPacketSink(audio);
  let packet = await sink.getFirstPacket();
  while (packet !== null) {
    yield packet;
    packet = await sink.getNextPacket(packet);
  }
}

function toBytes(source: ArrayBufferView | ArrayBufferLike | undefined): Uint8Array {
  if (source === undefined) return new Uint8Array(0);
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
