import type { AudioCodec } from 'mediabunny';

/** Containers that are demuxed into packets. wav and mp3 files go directly to their decoders. */
export type PacketContainer = 'webm' | 'mp4' | 'ogg' | 'flac';

/** Parameters of a track that its decoder needs. */
export interface Track {
  readonly codec: AudioCodec;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Codec header in the WebCodecs layout; empty if the container has none. */
  readonly description: Uint8Array;
}
