import type { Engine } from './engine.ts';

export const containers = ['webm', 'mp4', 'ogg', 'mp3', 'wav', 'flac'] as const;
export type Container = (typeof containers)[number];

/** A part of a recording. Whole milliseconds from its start, `startMs` <= `endMs`. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A recording that the service has sniffed and stored on local disk. It is deleted when its request ends. */
export interface Recording {
  readonly path: string;
  /** Size in bytes, 1 to 26214400; with `slice`, that of a file with the slice alone. */
  readonly bytes: number;
  /** Detected from the first bytes; the client's file name and media type are ignored. */
  readonly container: Container;
  /** Media type of the container. */
  readonly mediaType: string;
  /**
   * The recording is this part of a file that the service has decoded: `decode` returns it at once. Engines without
   * `decodes` get a file with nothing else in it.
   */
  readonly slice?: Span;
}

export const timestampKinds = ['segment', 'word'] as const;
export type TimestampKind = (typeof timestampKinds)[number];

/** A part of a transcript. */
export interface TimedText extends Span {
  readonly text: string;
}

/** What one speaker says without a break. */
export interface SpeakerTurn extends TimedText {
  /** The same for all turns of a speaker, such as `A`. */
  readonly speaker: string;
}

export interface Transcript {
  /** One continuous string. "" means silence, which is a success. */
  readonly text: string;
  /** Detected language (ISO 639-1), or null if the model does not report it. */
  readonly language: string | null;
  /** Length of the recording in milliseconds, if known. */
  readonly durationMs?: number;
  /**
   * If the call asked for them; [] for silence. In order of `startMs`, none ends after `durationMs`. Joined with spaces
   * where the language has them, the segments are `text`, and the words of a segment are its text.
   */
  readonly segments?: readonly TimedText[];
  readonly words?: readonly TimedText[];
  /** If the call asked for them; [] for silence. In order of `startMs`. */
  readonly turns?: readonly SpeakerTurn[];
}

export interface TranscriptionCall {
  readonly recording: Recording;
  readonly model: string;
  /** ISO 639-1 code, two letters. Default: the model detects the language. */
  readonly language?: string;
  /** Words and names that may occur, or the text before the recording. Only for entries that support `prompt`. */
  readonly prompt?: string;
  /** Sampling temperature, 0 to 1. Only for entries that support `temperature`. */
  readonly temperature?: number;
  /** Only for entries that support `segment` and `word`. Absent: no timestamps. */
  readonly timestamps?: readonly TimestampKind[];
  /** Words and names that may occur, at most 200 of 64 characters, without line breaks. Only for entries that support `keywords`. */
  readonly keywords?: readonly string[];
  /** Write the transcript in English. Only for entries that support `translate`. */
  readonly translate?: true;
  /** Report who says what. Only for entries that support `diarize`. */
  readonly diarize?: true;
}

/**
 * The callbacks never throw. A segment that breaks the contract ends the call with `engine-failed`: `signal` aborts. After
 * the end of the call they do nothing.
 */
export interface TranscriptionOptions {
  readonly signal: AbortSignal;
  /**
   * For engines that know parts of the transcript before its end: call it with each segment, in order. The segments of the
   * result win where they differ.
   */
  readonly onSegment?: (segment: TimedText) => void;
  /** Call it with the milliseconds of the recording that have been transcribed, and its length if known. */
  readonly onProgress?: (processedMs: number, durationMs?: number) => void;
  /**
   * For engines whose calls wait in a line: call it with the number of calls that will be served before this one, when it
   * begins to wait and whenever the number changes, and with null once its turn has come. `CallQueue.run` does.
   */
  readonly onQueued?: (ahead: number | null) => void;
}

export interface TranscriptionEngine extends Engine {
  /**
   * Rejects with an `EngineError`, or with the signal's reason within 250 ms after an abort: after that the service no
   * longer waits for it.
   */
  transcribe(call: TranscriptionCall, options: TranscriptionOptions): Promise<Transcript>;
  /**
   * A recording for the model is being uploaded: what it needs may be loaded. Without a model: the service has started.
   * Not awaited; failures are only logged.
   */
  warmUp?(model?: string): Promise<void>;
  /**
   * The engine has the sound of every recording from `context.decode`, and reads no more of the file than is between
   * `startMs` and `endMs`: the parts of a long recording need no files of their own.
   */
  readonly decodes?: true;
}
