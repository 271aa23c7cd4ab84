import type { Engine } from './engine.ts';

export const containers = ['webm', 'mp4', 'ogg', 'mp3', 'wav', 'flac'] as const;
export type Container = (typeof containers)[number];

/** A recording that the service has sniffed and stored on local disk. It is deleted when its request ends. */
export interface Recording {
  readonly path: string;
  /** Size in bytes, 1 to 26214400. */
  readonly bytes: number;
  /** Detected from the first bytes; the client's file name and media type are ignored. */
  readonly container: Container;
  /** Media type of the container. */
  readonly mediaType: string;
}

export interface Transcript {
  /** One continuous string. "" means silence, which is a success. */
  readonly text: string;
  /** Detected language (ISO 639-1), or null if the model does not report it. */
  readonly language: string | null;
  /** Length of the recording in milliseconds, if known. */
  readonly durationMs?: number;
}

export interface TranscriptionCall {
  readonly recording: Recording;
  readonly model: string;
  /** ISO 639-1 code, two letters. Default: the model detects the language. */
  readonly language?: string;
}

export interface TranscriptionEngine extends Engine {
  /**
   * Rejects with an `EngineError`, or with the signal's reason within 250 ms after an abort: after that the service no
   * longer waits for it.
   */
  transcribe(call: TranscriptionCall, { signal }: { signal: AbortSignal }): Promise<Transcript>;
}
