import type { Engine } from './engine.ts';

/** `ogg` is Vorbis, `opus` is Opus in Ogg, `aac` is AAC in ADTS; `pcm` are the bare samples of `pcmFormat`. */
export const speechFormats = ['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'pcm'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

/** Mono 16-bit little-endian samples at this rate, without a header. A piece of audio may end in the middle of a sample. */
export const pcmFormat = { sampleRate: 24_000, mediaType: 'audio/pcm' } as const;

/** The media type of each format. */
export const speechMediaTypes = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pcm: pcmFormat.mediaType,
} as const satisfies Readonly<Record<SpeechFormat, string>>;

export interface SpeechCall {
  readonly text: string;
  readonly model: string;
  readonly voice?: string;
  readonly language?: string;
  readonly format: SpeechFormat;
  /** 0.25 to 4, where 1 is the voice's own speed. Only for entries that support `speed`. */
  readonly speed?: number;
  /** How to speak, in words. Only for entries that support `instructions`. */
  readonly instructions?: string;
}

export interface Speech {
  readonly mediaType: string;
  readonly audio: AsyncIterable<Uint8Array>;
}

/** Mono 16-bit PCM audio. */
export interface Pcm {
  /** Samples per second, 8000 to 48000. */
  readonly sampleRate: number;
  readonly samples: AsyncIterable<Int16Array>;
}

export interface SpeechEngine extends Engine {
  /** Resolves once the first audio bytes are available. Later failures are thrown by the iterator. */
  synthesize(call: SpeechCall, { signal }: { signal: AbortSignal }): Promise<Speech>;
}
