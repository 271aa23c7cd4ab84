/** Demuxes the first audio track of a container and decodes it packet by packet. */
import {
  EncodedPacketSink,
  FLAC,
  FilePathSource,
  Input,
  MATROSKA,
  MP4,
  OGG,
  QTFF,
  WEBM,
  type InputAudioTrack,
  type InputFormat,
  type Source,
} from 'mediabunny';
import type { EngineError } from '../../../engines/contract/index.ts';
import { decoderFor } from './codecs/index.ts';
import { undecodable } from './failures.ts';
import { viewedSource, type FileView } from './file-view.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import type { PacketContainer, Track } from './track.ts';
import { webmView } from './webm-view.ts';

const formats: Readonly<Record<PacketContainer, InputFormat[]>> = {
  webm: [WEBM, MATROSKA],
  mp4: [MP4, QTFF],
  ogg: [OGG],
  flac: [FLAC],
};

export async function* decodePackets(path: string, container: PacketContainer): AsyncGenerator<Pcm> {
  const input = new Input({ source: sourceOf(path, container), formats: formats[container] });
  try {
    const [audio] = await input.getAudioTracks();
    if (audio === undefined) throw noTrack(container);
    const decode = await decoderFor(await describe(audio, container));
    for await (const packet of packetsOf(audio)) yield await decode(packet);
  } finally {
    input.dispose();
  }
}

/** The demuxer misses a last frame of less than 16 bytes (silence) unless something follows it. */
const flacView = (_file: number, fileBytes: number): FileView => ({ end: fileBytes + 16 });

function sourceOf(path: string, container: PacketContainer): Source {
  if (container === 'webm') return viewedSource(path, webmView);
  if (container === 'flac') return viewedSource(path, flacView);
  return new FilePathSource(path);
}

function noTrack(container: PacketContainer): EngineError {
  const kind = container === 'ogg' ? 'Opus or Vorbis' : 'audio'; // the only codecs the demuxer supports in Ogg
  return undecodable(`no ${kind} track was found in the ${container} file`);
}

async function describe(audio: InputAudioTrack, container: PacketContainer): Promise<Track> {
  const sampleRate = await audio.getSampleRate();
  const channels = await audio.getNumberOfChannels();
  assertPlausible(sampleRate, channels);
  const config: { description?: ArrayBufferView | ArrayBufferLike } | null = await audio.getDecoderConfig();
  return { container, codec: await audio.getCodec(), sampleRate, channels, description: toBytes(config?.description) };
}

/** Not the sink's own iterator: it drops what it has read ahead when a file is truncated. */
async function* packetsOf(audio: InputAudioTrack): AsyncGenerator<Uint8Array> {
  const sink = new EncodedPacketSink(audio);
  let packet = await sink.getFirstPacket();
  while (packet !== null) {
    yield packet.data;
    packet = await sink.getNextPacket(packet);
  }
}

function toBytes(source: ArrayBufferView | ArrayBufferLike | undefined): Uint8Array {
  if (source === undefined) return new Uint8Array(0);
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
