import type { Engine } from './engine.ts';
import type { Span } from './sound.ts';
import type { SpeakerFinder } from './speakers.ts';

/** Containers of recordings that the service accepts. */
export const containers = ['webm', 'mp4', 'ogg', 'mp3', 'wav', 'flac'] as const;
/** One of `containers`. */
export type Container = (typeof containers)[number];

/** A recording that the service has sniffed and stored on local disk. It is deleted when its request or its job ends. */
export interface Recording {
  readonly path: string;
  /**
   * Size in bytes: 1 to 26214400, for the recording of a job up to TRANSCRIBE_JOB_MAX_MB. With `slice`, the size of the
   * slice.
   */
  readonly bytes: number;
  /** Detected from the first bytes; the client's file name and media type are ignored. */
  readonly container: Container;
  /** Media type of the container. */
  readonly mediaType: string;
  /**
   * Set if the recording is a part of a file that the service has already decoded: `decode` returns it immediately.
   * Engines without `decodes` get a file that contains only this part.
   */
  readonly slice?: Span;
}

/** The parts of a transcript that can have timestamps. */
export const timestampKinds = ['segment', 'word'] as const;
/** One of `timestampKinds`. */
export type TimestampKind = (typeof timestampKinds)[number];

/** A part of a transcript. */
export interface TimedText extends Span {
  readonly text: string;
}

/** An uninterrupted passage of one speaker. */
export interface SpeakerTurn extends TimedText {
  /** The same for all turns of a speaker, such as `A`. */
  readonly speaker: string;
}

/** The result of a transcription. */
export interface Transcript {
  /** The whole text as one string. "" means silence, which is a success. */
  readonly text: string;
  /** Detected language (ISO 639-1), or null if the model does not report it. */
  readonly language: string | null;
  /** Length of the recording in milliseconds, if known. */
  readonly durationMs?: number;
  /**
   * Present if the call requested segments; [] for silence. In order of `startMs`; none ends after `durationMs`. Joined
   * with spaces (if the language has them), the segments are `text`.
   */
  readonly segments?: readonly TimedText[];
  /**
   * Present if the call requested words; ordered as `segments`. Joined with spaces, the words of a segment are its
   * text.
   */
  readonly words?: readonly TimedText[];
  /** Present if the call requested `diarize`; [] for silence. In order of `startMs`. */
  readonly turns?: readonly SpeakerTurn[];
}

/** A speaker to recognize in a recording. */
export interface KnownSpeaker {
  /** The name for the turns of the speaker, 1 to 64 characters. */
  readonly name: string;
  /** A recording of the speaker, at most 1 MB, as a data URL. */
  readonly reference: string;
}

/** A transcription request for an engine. */
export interface TranscriptionCall {
  readonly recording: Recording;
  /** Id of one of the engine's entries. */
  readonly model: string;
  /**
   * ISO 639-1 code (two letters), or `haw` or `yue`, which have no such code. Defaults to the language that the model
   * detects if not specified.
   */
  readonly language?: string;
  /**
   * The languages that the recording may be in, at least one ISO 639-1 code: the model detects one of them. Codes that
   * the model does not know have no effect. Only for entries that support `languages`, and never with `language`.
   */
  readonly languages?: readonly string[];
  /** Words and names that may occur, or the text before the recording. Only for entries that support `prompt`. */
  readonly prompt?: string;
  /** Sampling temperature, 0 to 1. Only for entries that support `temperature`. */
  readonly temperature?: number;
  /** Only kinds that the entry supports. Defaults to none if not specified. */
  readonly timestamps?: readonly TimestampKind[];
  /**
   * Words and names that may occur: at most 200, each of at most 64 characters, without line breaks. Only for entries
   * that support `keywords`.
   */
  readonly keywords?: readonly string[];
  /** Write the transcript in English. Only for entries that support `translate`. */
  readonly translate?: true;
  /** Report the turns of the speakers. Only for entries that support `diarize`. */
  readonly diarize?: true;
  /**
   * Speakers whose turns are labeled with their names. Only with `diarize`, 1 to 4. Defaults to none if not specified.
   */
  readonly knownSpeakers?: readonly KnownSpeaker[];
}

/**
 * The second argument of `TranscriptionEngine.transcribe`. The callbacks never throw, and do nothing after the end of
 * the call. A segment that breaks the contract ends the call with `engine-failed`: `signal` aborts.
 */
export interface TranscriptionOptions {
  /** Aborts when the caller disconnects, when the time limit is reached, and at shutdown. */
  readonly signal: AbortSignal;
  /**
   * For engines that know parts of the transcript before the call ends: call it with each segment, in order. If these
   * segments differ from the result, the result takes precedence.
   */
  readonly onSegment?: (segment: TimedText) => void;
  /**
   * Call it with the number of milliseconds of the recording that have been transcribed, and the length of the
   * recording if known.
   */
  readonly onProgress?: (processedMs: number, durationMs?: number) => void;
  /**
   * For engines whose calls wait in a queue: call it with the number of calls ahead when the call begins to wait and
   * whenever the number changes, and with null once its turn has come. `CallQueue.run` does this.
   */
  readonly onQueued?: (ahead: number | null) => void;
}

/** An engine with the capability `transcription`. */
export interface TranscriptionEngine extends Engine {
  /**
   * Resolves with the transcript of a recording. Rejects with an `EngineError`, or with the signal's reason within 250
   * ms after an abort; the service waits no longer than that.
   *
   * @example
   * import { EngineError, type EngineContext, type TranscriptionEngine } from '@parlance/server/engine';
   *
   * export const transcribeWith =
   *   ({ fetch, decode }: EngineContext): TranscriptionEngine['transcribe'] =>
   *   async ({ recording, language = 'en' }, { signal }) => {
   *     const { endMs: durationMs } = await decode(recording, { signal });
   *     const response = await fetch(`http://127.0.0.1:9000/${language}?file=${recording.path}`, { signal });
   *     if (!response.ok) throw new EngineError('provider-error', 'The transcription provider failed.');
   *     return { text: await response.text(), language, durationMs };
   *   };
   */
  transcribe(call: TranscriptionCall, options: TranscriptionOptions): Promise<Transcript>;
  /**
   * Called when audio for the model begins to arrive (an upload or a live session), so that the engine can load what it
   * needs, and without a model when the service has started. Not awaited; failures are only logged.
   */
  warmUp?(model?: string): Promise<void>;
  /**
   * For engines with a local speech detector that answers within a few milliseconds: live sessions use it to find where
   * speech begins and ends, whichever model transcribes. `wavPath` is a file of 16 kHz mono s16 that the service has
   * written. Resolves with the speech in it, in order, with up to 300 ms of audio before and after each stretch, or
   * with undefined if the detector is not installed or not free. A failure is only logged.
   */
  findSpeech?(
    wavPath: string,
    durationMs: number,
    options: { readonly signal: AbortSignal },
  ): Promise<readonly Span[] | undefined>;
  /**
   * For engines with models on this machine that tell speakers apart. The service uses the first of these engines whose
   * `maxMs` is defined for every model with timestamps of words that does not support `diarize` itself.
   */
  readonly speakers?: SpeakerFinder;
  /**
   * The engine gets the audio of every recording from `context.decode`, and reads only the part of the file between
   * `startMs` and `endMs`: the parts of a long recording need no files of their own.
   */
  readonly decodes?: true;
}
