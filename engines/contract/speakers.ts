import type { Decoded, Span } from './sound.ts';

/** Speech of one speaker. */
export interface SpeakerSpan extends Span {
  /** Index of the speaker, from 0. */
  readonly speaker: number;
}

/** The speakers of a recording, and when each of them speaks. */
export interface FoundSpeakers {
  /** In any order; spans of different speakers may overlap. [] for silence. */
  readonly spans: readonly SpeakerSpan[];
  /** For each of `references`, the distance of its voice to that of each speaker, from 0 to 2. */
  readonly distances: readonly (readonly number[])[];
}

/** The second argument of `SpeakerFinder.find`. */
export interface SpeakerOptions {
  /** Aborts when the caller disconnects, when the time limit is reached, and at shutdown. */
  readonly signal: AbortSignal;
  /** The number of speakers to divide the speech into. Defaults to the number that the engine finds if not specified. */
  readonly clusters?: number;
  /** Recordings of known speakers, to compare. Defaults to none if not specified. Their voices must not be kept. */
  readonly references?: readonly Decoded[];
  /** Call it with the completed fraction, from 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

/** Finds who speaks in recordings, whichever model transcribes them. */
export interface SpeakerFinder {
  /**
   * Length in milliseconds of the longest recording that fits in the memory budget; undefined while the models or the
   * library are not installed. Does no I/O.
   */
  readonly maxMs: number | undefined;
  /** Rejects with an `EngineError`, or with the signal's reason within 250 ms after an abort. */
  find(sound: Decoded, options: SpeakerOptions): Promise<FoundSpeakers>;
}
