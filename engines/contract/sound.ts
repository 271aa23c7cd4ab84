/** A part of a recording, in whole milliseconds from its start; `startMs` <= `endMs`. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * A recording as audio: the part between `startMs` and `endMs` of a WAV file. Without `decodes`, that is the whole
 * file, from 0 to the length of the recording. Its times are those of the recording: gaps without audio are filled with
 * silence. The length is measured from the decoded samples and rounded up: the file may end less than 1 ms before
 * `endMs`.
 */
export interface Decoded extends Span {
  /**
   * WAV file written by the service: 16 kHz mono 16-bit PCM with a header of 44 bytes. It is deleted together with the
   * recording.
   */
  readonly wavPath: string;
}
