/** Demuxes an audio track and decodes it packet by packet, in every section of the file. */
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
import { withFile } from '../../../lib/recording/file-bytes.ts';
import { viewedSource, type FileView } from '../../../lib/recording/file-view.ts';
import { oggCodecIds } from '../../../lib/recording/ogg.ts';
import { inPages } from './ogg-times.ts';
import { EngineError } from '../../../engines/contract/index.ts';
import { decoderFor, isDecodable, type PacketDecoder } from './codecs/index.ts';
import { nameOf } from '../container-name.ts';
import { maxFailuresAtStart } from '../decode-request.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { sectionsOf } from '../sections.ts';
import { Timeline } from '../timeline.ts';
import { unsupportedCodecs } from './needs-ffmpeg.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import type { PacketContainer, Track } from './track.ts';

export const formats: Readonly<Record<PacketContainer, InputFormat[]>> = {
  webm: [WEBM, MATROSKA],
  mp4: [MP4, QTFF],
  ogg: [OGG],
  flac: [FLAC],
};

/** One of the recordings in a file. */
interface Section extends FileView {
  readonly path: string;
  readonly container: PacketContainer;
}

export async function* decodePackets(path: string, container: PacketContainer): AsyncGenerator<Pcm> {
  const sections = sectionsOf(path, container);
  for (const [i, section] of sections.entries()) {
    let hasAudio = false;
    try {
      for await (const block of decodeSection({ ...section, path, container })) {
        hasAudio = true;
        yield block;
      }
    } catch (error) {
      const isAtEnd = hasAudio && i === sections.length - 1;
      if (isAtEnd || EngineError.is(error) || isSystemError(error)) throw error;
      throw damaged({ path, container }, error);
    }
  }
}

function damaged({ path, container }: Pick<Section, 'path' | 'container'>, cause?: unknown): EngineError {
  return undecodable(`the ${nameOf(path, container)} file is damaged before its end`, cause);
}

async function* decodeSection(section: Section): AsyncGenerator<Pcm> {
  const { path, container } = section;
  const input = new Input({ source: viewedSource(path, section), formats: formats[container] });
  try {
    const tracks = await input.getAudioTracks();
    if (tracks.length === 0) throw noTrack(section);
    yield* decodeTrack(await chooseTrack(tracks, section), section, await input.getFirstTimestamp());
  } finally {
    input.dispose();
  }
}

function noTrack(section: Section): EngineError {
  const { path, container } = section;
  if (container !== 'ogg') return undecodable(`no audio track was found in the ${nameOf(path, container)} file`);
  return unsupportedCodecs(path, 'ogg', [...withFile(path, (file) => oggCodecIds(file, section))]);
}

/** Chooses the first track that has sound, otherwise the first that can be decoded. Default tracks come first. */
async function chooseTrack(tracks: readonly InputAudioTrack[], section: Section): Promise<InputAudioTrack> {
  const facts = await Promise.all(
    tracks.map(async (track) => ({
      track,
      isDefault: (await track.getDisposition()).default,
      isDecodable: isDecodable(await track.getCodec()),
      codecId: String(await track.getInternalCodecId()),
    })),
  );
  const ranked = [...facts.filter(({ isDefault }) => isDefault), ...facts.filter(({ isDefault }) => !isDefault)];
  const candidates = ranked.filter(({ isDecodable }) => isDecodable).map(({ track }) => track);
  const [first] = candidates;
  if (first === undefined) {
    const codecs = ranked.map(({ codecId }) => codecId);
    throw unsupportedCodecs(section.path, section.container, codecs);
  }
  if (candidates.length > 1) {
    for (const track of candidates) if (await hasSound(track, section)) return track;
  }
  return first;
}

/** -60 dBFS, as a linear amplitude. */
const minAmplitude = 0.001;

/** Returns false for a silent track and for one that cannot be decoded. */
async function hasSound(audio: InputAudioTrack, section: Section): Promise<boolean> {
  try {
    for await (const { channels } of decodeTrack(audio, section)) {
      if (channels.some((samples) => samples.some((sample) => Math.abs(sample) > minAmplitude))) return true;
    }
  } catch (error) {
    if (isSystemError(error)) throw error;
  }
  return false;
}

/** `startsAt` is the earliest timestamp of all tracks, in seconds. */
async function* decodeTrack(audio: InputAudioTrack, section: Section, startsAt = 0): AsyncGenerator<Pcm> {
  const { path, container, framesAt, end } = section;
  const track = await inspectTrack(audio);
  const decode = tolerant(await decoderFor(track));
  const opusTimes = new Timeline(section);
  const count = { packets: 0, bytes: 0, decoded: 0, samples: 0, lost: 0 }; // lost: packets without audio since the last block
  const packets = container === 'ogg' ? inPages(packetsOf(audio), track, section) : packetsOf(audio);
  for await (const packet of packets) {
    const block = await decode(packet.data);
    const samples = block?.channels[0]?.length ?? 0;
    count.packets += 1;
    count.bytes += packet.data.length;
    if (block === undefined || samples === 0) {
      const isSkipped = block !== undefined && track.codec === 'opus'; // removed by the decoder as pre-skip
      count.lost += isSkipped ? 0 : 1;
      continue;
    }
    if (count.lost > (count.decoded > 0 ? 0 : maxFailuresAtStart)) throw damaged(section);
    count.lost = 0;
    count.decoded += 1;
    count.samples += samples;
    const startMs = (packet.timestamp - startsAt) * 1000;
    if (container === 'mp4' && track.codec === 'opus') opusTimes.place(startMs, (samples / block.sampleRate) * 1000);
    yield { ...(container === 'ogg' ? trimmed(block, packet.duration) : block), startMs };
  }
  // The first packet of a Vorbis track contains no samples.
  if (count.decoded < (count.packets - 1) / 2)
    throw undecodable(`most packets of the ${nameOf(path, container)} file are damaged`);
  if (opusTimes.isShortened) throw damaged(section);
  const isCutShort = framesAt !== undefined && framesAt + count.bytes < end;
  if (isCutShort && count.samples !== flacSamples(track)) throw damaged(section);
}

/** Wraps a decoder to return undefined for packets that it fails to decode. */
function tolerant(decode: PacketDecoder): (packet: Uint8Array) => Promise<Pcm | undefined> {
  return async (packet) => {
    try {
      return await decode(packet);
    } catch {
      return undefined;
    }
  };
}

/** The last packet of an Ogg stream may decode to samples beyond the end of the stream. */
function trimmed({ sampleRate, channels }: Pcm, seconds: number): Pcm {
  const length = Math.round(seconds * sampleRate);
  return { sampleRate, channels: channels.map((samples) => samples.subarray(0, length)) };
}

/**
 * RFC 9639, section 8.2: the STREAMINFO block follows a four-byte marker and a four-byte header. The number of samples
 * is 0 if unknown.
 */
function flacSamples({ description }: Track): number {
  const view = new DataView(description.buffer, description.byteOffset, description.byteLength);
  return Number(view.getBigUint64(18) & 0xf_ffff_ffffn);
}

async function inspectTrack(audio: InputAudioTrack): Promise<Track> {
  const [codec, sampleRate, channels] = [
    await audio.getCodec(),
    await audio.getSampleRate(),
    await audio.getNumberOfChannels(),
  ];
  assertPlausible(sampleRate, channels);
  const config: { description?: ArrayBufferView | ArrayBufferLike } | null = await audio.getDecoderConfig();
  return { codec: codec!, sampleRate, channels, description: toBytes(config?.description) };
}

/** Does not use the sink's own iterator, which discards prefetched packets if the file is truncated. */
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
