/** Buffers the reports of an engine for a reader that may be slower than the engine. */
import type { TimedText } from '../../engines/contract/index.ts';
import { violation } from '../engine-host/guard/failures.ts';

export interface Progress {
  readonly processedMs: number;
  /** Length of the recording, if known. */
  readonly durationMs: number | undefined;
}

export type Report = { readonly segment: TimedText } | { readonly progress: Progress } | { readonly ahead: number };

/** Reports for one reader. Iteration ends after `end()`, once every report has been read. */
export interface Reports extends AsyncIterable<Report, undefined> {
  /**
   * Throws `engine-failed`, which ends the call, if the segment is out of order or too many segments wait for the
   * reader.
   */
  readonly onSegment: (segment: TimedText) => void;
  /** Only the latest progress waits for the reader; progress that does not increase is dropped. */
  readonly onProgress: (processedMs: number, durationMs?: number) => void;
  /**
   * Only the latest position waits for the reader. null, the end of the wait, becomes progress of 0 ms. Calls after a
   * segment or progress are ignored.
   */
  readonly onQueued: (ahead: number | null) => void;
  /** Later reports are dropped. */
  readonly end: () => void;
}

/**
 * Maximum number of UTF-16 code units of segments that wait for the reader, with an allowance for each segment. The
 * largest recording that fits 25 MB (ten hours of speech at 6 kbit/s) has 600,000 characters, so only a broken engine
 * reaches the limit.
 */
const maxWaiting = 16_777_216;
const perSegment = 100;

export function createReports(): Reports {
  let segments: TimedText[] = [];
  let waiting = 0;
  let lastStart = 0;
  let progress: Progress | undefined;
  let processed = -1;
  let ahead: number | undefined;
  let hasBegun = false;
  let isOver = false;
  let wake = () => {};

  const sizeOf = ({ text }: TimedText) => perSegment + text.length;

  async function* read(): AsyncGenerator<Report, undefined> {
    for (;;) {
      const batch = segments;
      segments = [];
      for (const segment of batch) {
        yield { segment };
        waiting -= sizeOf(segment);
      }
      if (segments.length > 0) continue;
      if (ahead !== undefined) {
        const latest = ahead;
        ahead = undefined;
        yield { ahead: latest };
      } else if (progress) {
        const latest = progress;
        progress = undefined;
        yield { progress: latest };
      } else if (isOver) {
        return undefined;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  }

  /** The queue position is obsolete from now on. */
  function begin(): void {
    hasBegun = true;
    ahead = undefined;
  }

  function onProgress(ms: number, durationMs?: number): void {
    const processedMs = Math.floor(ms);
    if (isOver || processedMs <= processed) return;
    processed = processedMs;
    begin();
    progress = { processedMs, durationMs };
    wake();
  }

  return {
    onSegment(segment) {
      if (isOver) return;
      if (segment.startMs < lastStart) throw violation('a segment starts before the one that precedes it');
      lastStart = segment.startMs;
      begin();
      waiting += sizeOf(segment);
      if (waiting > maxWaiting) throw violation('more segments than a recording can have wait for the reader');
      segments.push(segment);
      wake();
    },
    onProgress,
    onQueued(position) {
      if (isOver || hasBegun) return;
      if (position === null) return onProgress(0);
      ahead = position;
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    [Symbol.asyncIterator]: read,
  };
}
