/**
 * The events of a job. The events are derived from the job's rows in the database, so that each event keeps its number
 * across restarts.
 */
import { problemAnswer, ProblemError } from '../contract/problems.ts';
import type { Schemas } from '../contract/operations.ts';
import { toTimedText } from '../transcription/wire.ts';
import { processedMs, resultOf, type Job } from './job.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];
/** An event without `seq`. */
type Unnumbered = TranscriptionEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'seq'> : never) : never;

export interface Following {
  /** The `seq` of the last event that the reader has received; -1 if none. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Id of the request that reads the events. */
  readonly requestId: string;
}

/** When the signal aborts, ends without a final event, because the reader resumes elsewhere. */
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
    for (let from = 0, steps = 0; ;) {
      const isSearch = steps < (job.record.searched ?? 0);
      const [part] = isSearch ? [] : job.parts({ from, limit: 1 });
      if (isSearch) {
        steps += 1;
        yield { type: 'transcription.progress', processed_ms: processedMs(job.record, 0, steps), ...durationOf(job) };
      } else if (part) {
        from += 1;
        for (const segment of part.segments) yield { type: 'segment.created', segment: toTimedText(segment) };
        yield { type: 'transcription.progress', processed_ms: processedMs(job.record, part.endMs), ...durationOf(job) };
      } else if (job.isOver) break;
      else await job.change(signal);
    }
    if (job.isRemoved) throw notFound(id);
    const { problem } = job.record;
    if (problem) yield { type: 'transcription.failed', problem };
    else yield { type: 'transcription.completed', result: resultOf(job.record, job.parts()) };
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
