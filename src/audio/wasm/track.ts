import type { AudioCodec } from 'mediabunny';

/** Containers to demux into packets; wav and mp3 files go to their decoders directly. */
export type PacketContainer = 'webm' | 'mp4' | 'ogg' | 'flac';

/** Parameters of a track for its decoder. */
export interface Track {
  readonly codec: AudioCodec;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Codec header in the WebCodecs layout; empty if the container has none. */
  readonly description: Uint8Array;
}
