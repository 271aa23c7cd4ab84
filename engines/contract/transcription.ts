import type { Engine } from './engine.ts';

export const containers = ['webm', 'mp4', 'ogg', 'mp3', 'wav', 'flac'] as const;
export type Container = (typeof containers)[number];

/** A recording on this machine's disk, sniffed and stored by the service, gone when its request ends. */
export interface Recording {
  readonly path: string;
  /** Size in bytes, 1 to 26214400. */
  readonly bytes: number;
  /** By its first bytes; the caller's file name and media type decide nothing. */
  readonly container: Container;
  /** The media type that belongs to the container. */
  readonly mediaType: string;
}

export interface Transcript {
  /** One continuous string; "" is silence, a success. */
  readonly text: string;
  /** The language that was heard, ISO 639-1, or null when the model does not say. */
  readonly language: string | null;
  /** Length of the recording in milliseconds, where the model reports it. */
  readonly durationMs?: number;
}

export interface TranscriptionCall {
  readonly recording: Recording;
  readonly model: string;
  /** ISO 639-1, two letters; absent: the model detects it. */
  readonly language?: string;
}

export interface TranscriptionEngine extends Engine {
  /** Rejects with an `EngineError`, or with the signal's reason within 250 ms of its abort: then it is no longer awaited. */
  transcribe(call: TranscriptionCall, { signal }: { signal: AbortSignal }): Promise<Transcript>;
}
