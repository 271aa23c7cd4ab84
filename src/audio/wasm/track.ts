import type { AudioCodec } from 'mediabunny';

/** The containers that are taken apart into packets; a wav or mp3 file goes to its decoder as it is. */
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
