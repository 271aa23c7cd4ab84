/** The rows of the database: the record of a job, and the transcribed parts of its recording. */
import type { Container } from '../../engines/contract/index.ts';
import type { Schemas } from '../contract/operations.ts';
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
  /** Completed steps of the search for speakers, of `searchSteps`. Each is an event, so the number is kept. */
  readonly searched?: number;
  /** Who speaks when, once this has been found: start and end in milliseconds, and the index of the speaker. */
  readonly spans?: readonly (readonly [number, number, number])[];
  /** Milliseconds since 1970; null until the job is over. */
  readonly endedAt: number | null;
  readonly problem: Schemas['Problem'] | null;
}

/** Steps of the search for speakers: at most 10 s each for a recording of an hour. */
export const searchSteps = 50;

/** Fields that the request sets. */
export type NewJob = Pick<JobRecord, 'requestId' | 'model' | 'fields'>;

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
