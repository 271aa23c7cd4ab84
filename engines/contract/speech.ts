import type { Engine } from './engine.ts';

/** Audio formats: `ogg` is Vorbis, `opus` is Opus in Ogg, `aac` is AAC in ADTS, `pcm` is samples without a header. */
export const speechFormats = ['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'pcm'] as const;
/** One of `speechFormats`. */
export type SpeechFormat = (typeof speechFormats)[number];

/**
 * The format `pcm`: mono 16-bit little-endian samples at this rate. A chunk of audio may end in the middle of a sample.
 */
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

/** A speech request for an engine. */
export interface SpeechCall {
  /** The text to speak, not empty. */
  readonly text: string;
  /** Id of one of the engine's entries. */
  readonly model: string;
  /** Id of a voice. Defaults to a voice for `language`, or to the entry's default voice, if not specified. */
  readonly voice?: string;
  /** ISO 639-1 code, two letters. Defaults to the language of the voice if not specified. */
  readonly language?: string;
  readonly format: SpeechFormat;
  /**
   * Speed as a multiple of the voice's own, 0.25 to 4. Only for entries that support `speed`.
   * @default 1
   */
  readonly speed?: number;
  /** How to speak, as a prompt. Only for entries that support `instructions`. */
  readonly instructions?: string;
}

/** Encoded audio. */
export interface Speech {
  /** One of `speechMediaTypes`. */
  readonly mediaType: string;
  /** The bytes as a stream. */
  readonly audio: AsyncIterable<Uint8Array>;
}

/** Mono 16-bit PCM audio. */
export interface Pcm {
  /** Samples per second, 8000 to 48000. */
  readonly sampleRate: number;
  readonly samples: AsyncIterable<Int16Array>;
}

/** An engine with the capability `speech`. */
export interface SpeechEngine extends Engine {
  /**
   * Resolves once the first audio bytes are available. Rejects with an `EngineError`, or with the signal's reason
   * within 250 ms after an abort. Later failures are thrown by the iterator of `audio`.
   *
   * @example
   * import type { EngineContext, SpeechEngine } from '@parlance/server/engine';
   *
   * export const synthesizeWith =
   *   ({ start, readWav, encode }: EngineContext): SpeechEngine['synthesize'] =>
   *   async ({ text, voice = 'en', format }, { signal }) => {
   *     const call = { signal, timeoutMs: 60_000, cwd: '/', input: text };
   *     const { output } = start('espeak-ng', ['--stdout', '-v', voice], call);
   *     return encode(await readWav(output), format, { signal });
   *   };
   */
  synthesize(call: SpeechCall, { signal }: { signal: AbortSignal }): Promise<Speech>;
  /**
   * Called while the user of a live conversation connects or speaks, for local models: the engine can load the voice of
   * the answer. Not awaited; failures are only logged.
   */
  warmUp?(call: Pick<SpeechCall, 'model' | 'voice' | 'language'>): Promise<void>;
  /** True if the engine receives every text exactly as it was sent, unless the request has `speakable: true`. */
  readonly verbatim?: true;
}
