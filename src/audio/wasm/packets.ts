/** Takes the packets of the first audio track out of a container, one by one. */
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
  type AudioCodec,
  type InputAudioTrack,
  type InputFormat,
} from 'mediabunny';
import { assertPlausible } from './pcm.ts';
import { undecodable } from './failures.ts';
import { webmSource } from './webm-source.ts';

/** The containers that are read here; the bytes of wav and mp3 files go to their decoders directly. */
export type PacketContainer = 'webm' | 'mp4' | 'ogg' | 'flac';

/** What a decoder must know of the track whose packets it gets. */
export interface Track {
  readonly container: PacketContainer;
  /** Null when the demuxer does not know it. */
  readonly codec: AudioCodec | null;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** The codec's own header, in the layout that WebCodecs prescribes; empty where the container has none. */
  readonly description: Uint8Array;
}

const formats: Readonly<Record<PacketContainer, InputFormat[]>> = {
  webm: [WEBM, MATROSKA],
  mp4: [MP4, QTFF],
  ogg: [OGG],
  flac: [FLAC],
};

/** Decodes the first audio track with the decoder that `decoderFor` makes for it. */
export async function* decodePackets<T>(
  path: string,
  container: PacketContainer,
  decoderFor: (track: Track) => Promise<(packet: Uint8Array) => T | Promise<T>>,
): AsyncGenerator<T> {
  const source = container === 'webm' ? webmSource(path) : new FilePathSource(path);
  const input = new Input({ source, formats: formats[container] });
  try {
    const [audio] = await input.getAudioTracks();
    if (audio === undefined) throw undecodable(`no audio track was found in the ${container} file`);
    const decode = await decoderFor(await describe(audio, container));
    for await (const packet of packetsOf(audio)) yield await decode(packet);
  } finally {
    input.dispose();
  }
}

async function describe(audio: InputAudioTrack, container: PacketContainer): Promise<Track> {
  const sampleRate = await audio.getSampleRate();
  const channels = await audio.getNumberOfChannels();
  assertPlausible(sampleRate, channels);
  const config: { description?: ArrayBufferView | ArrayBufferLike } | null = await audio.getDecoderConfig();
  return { container, codec: await audio.getCodec(), sampleRate, channels, description: toBytes(config?.description) };
}

/** Packet by packet rather than with the sink's own iterator, which drops what it has read ahead when a file is cut. */
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
