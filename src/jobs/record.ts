/** The rows of the database: the record of a job, and the transcribed parts of its recording. */
import type { Container } from '../../engines/contract/index.ts';
import { bytesOf } from '../../lib/wav.ts';
import type { Schemas } from '../contract/operations.ts';
import type { KnownVoice } from '../transcription/speakers/find.ts';
import type { SpokenText } from '../transcription/speakers/spoken.ts';
import type { ApiFields } from '../transcription/parameters.ts';

export type JobStatus = Schemas['TranscriptionJobStatus'];

export interface JobRecord {
  readonly id: string;
  /** Id of the request that created the job, used in the log and in the problem. */
  readonly requestId: string;
  readonly caller: string;
  /** Name of the API key; null in open mode. */
  readonly key: string | null;
  /** Id of the model. */
  readonly model: string;
  /** The other fields of the request. */
  readonly fields: ApiFields;
  readonly container: Container;
  /** Size of the recording in bytes. */
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly status: JobStatus;
  /** Null until the recording has been decoded. */
  readonly durationMs: number | null;
  /** Speakers with a name: the file of the decoded reference in the job's folder, and its length. */
  readonly known?: readonly { readonly name: string; readonly file: string; readonly endMs: number }[];
  /** Completed steps of the search for speakers, of `searchSteps`. Each is an event, so the number is kept. */
  readonly searched?: number;
  /**
   * The passages of the speakers: start and end in milliseconds, and the index of the speaker. Absent until the search
   * has ended.
   */
  readonly spans?: readonly (readonly [number, number, number])[];
  /** The names of the speakers that were recognized by their references, by index. */
  readonly names?: readonly (readonly [number, string])[];
  /** Milliseconds since 1970; null until the job is over. */
  readonly endedAt: number | null;
  readonly problem: Schemas['Problem'] | null;
}

/** Steps of the search for speakers: at most 10 s each for a recording of an hour. */
export const searchSteps = 50;

/** The fields of a new job that come from the request. */
export interface NewJob extends Pick<JobRecord, 'requestId' | 'model' | 'fields'> {
  /** Their recordings are in the folder of the upload. */
  readonly known: readonly KnownVoice[];
}

/** Size of the files that exist until the job is over. */
export function filesBytes({ bytes, known = [] }: Pick<JobRecord, 'bytes' | 'known'>): number {
  return known.reduce((sum, { file, endMs }) => sum + bytesOf({ wavPath: file, startMs: 0, endMs }), bytes);
}

/** A transcribed part. Its times are relative to the whole recording. */
export interface Part {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  readonly language: string | null;
  /** Segments of separate channels have speakers. */
  readonly segments: readonly SpokenText[];
  readonly words: readonly SpokenText[];
}
