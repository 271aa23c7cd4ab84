/** The events of a job. All follow from what is on the disk, so that each keeps its number across restarts. */
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import type { Schemas } from '../contract/operations.ts';
import { toTimedText } from '../transcription/wire.ts';
import { msOf, resultOf, type Job } from './job.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];
/** Without `seq`. */
type Unnumbered = TranscriptionEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'seq'> : never) : never;

export interface Following {
  /** The `seq` of the last event that the reader has; -1: none. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Id of the request that follows. */
  readonly requestId: string;
}

/** Ends without a last event when the signal aborts: the reader resumes it elsewhere. */
export async function* followJob(job: Job, { after, ...options }: Following): AsyncGenerator<TranscriptionEvent> {
  let seq = 0;
  for await (const event of eventsOf(job, options)) {
    if (seq > after) yield { ...event, seq };
    seq += 1;
  }
}

async function* eventsOf(job: Job, { signal, requestId }: Omit<Following, 'after'>): AsyncGenerator<Unnumbered> {
  const { id, model } = job.record;
  try {
    yield { type: 'transcription.started', id, model };
    for (let part = 0; ; part += 1) {
      while (part >= job.parts && !job.isOver) await job.change(signal);
      if (job.isRemoved) throw notFound(id);
      if (part >= job.parts) break;
      const { segments, end } = await job.folder.readPart(part);
      for (const segment of segments) yield { type: 'segment.created', segment: toTimedText(segment) };
      yield { type: 'transcription.progress', processed_ms: msOf(end), ...durationOf(job) };
    }
    const { problem } = job.record;
    if (problem) yield { type: 'transcription.failed', problem };
    else yield { type: 'transcription.completed', result: resultOf(job.record, await job.read()) };
  } catch (error) {
    if (signal.aborted) return;
    const reason = job.isRemoved ? notFound(id) : error;
    yield { type: 'transcription.failed', problem: problemAnswer(reason, requestId).body };
  }
}

function durationOf({ record: { durationMs } }: Job): { readonly duration_ms?: number } {
  return durationMs === null ? {} : { duration_ms: durationMs };
}

export function notFound(id: string): ProblemError {
  return new ProblemError('transcription-not-found', `No transcription ${id}: it does not exist or has expired.`);
}
