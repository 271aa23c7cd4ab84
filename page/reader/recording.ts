/** A recording that has been or is being transcribed. */
import type { TimedText } from '../../src/client/index.ts';
import type { TimedTranscript } from './timed-transcript.ts';

export interface Recording {
  /** The id of its entry in the library. */
  readonly id: string;
  /** File name. */
  readonly title: string;
  /** The transcript so far. */
  readonly transcript: TimedTranscript;
  /** The job of the service that writes the transcript. */
  readonly job?: string;
  readonly progress?: Omit<JobProgress, 'segments'>;
  /** Undefined if the file is gone. */
  readonly file?: File;
}

export interface JobProgress {
  readonly segments: readonly TimedText[];
  /** Recordings that are transcribed before this one; undefined when its turn has come. */
  readonly ahead?: number;
  /** Share of the work, 0 to 1: the search for speakers is half of it. Undefined until the length is known. */
  readonly done?: number;
  readonly leftMs?: number;
}
