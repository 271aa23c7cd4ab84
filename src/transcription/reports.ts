/** What an engine reports while it transcribes, kept for a reader that may be slower than the engine. */
import { EngineError, type TimedText } from '../../engines/contract/index.ts';

export interface Progress {
  readonly processedMs: number;
  /** Length of the recording, if known. */
  readonly durationMs: number | undefined;
}

export type Report = { readonly segment: TimedText } | { readonly progress: Progress };

/** For one reader. Iteration ends after `end()`, once every report has been read. */
export interface Reports extends AsyncIterable<Report, undefined> {
  /** Throws `engine-failed` into the engine if the segment is out of order, or if too many wait for the reader. */
  readonly onSegment: (segment: TimedText) => void;
  /** Only the latest waits for the reader; progress that does not increase is dropped. */
  readonly onProgress: (processedMs: number, durationMs?: number) => void;
  /** Later reports are dropped. */
  readonly end: () => void;
}

/**
 * UTF-16 code units of segments that may wait for the reader, with an allowance for each segment. The largest recording
 * that fits 25 MB (ten hours of speech at 6 kbit/s) has 600,000 characters: only a broken engine gets there.
 */
const mostWaiting = 16_777_216;
const perSegment = 100;

export function createReports(): Reports {
  let segments: TimedText[] = [];
  let waiting = 0;
  let lastStart = 0;
  let progress: Progress | undefined;
  let processed = -1;
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
      if (progress) {
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

  return {
    onSegment(segment) {
      if (isOver) return;
      if (segment.startMs < lastStart) throw violation('a segment starts before the one that precedes it');
      lastStart = segment.startMs;
      waiting += sizeOf(segment);
      if (waiting > mostWaiting) throw violation('more segments than a recording can have wait for the reader');
      segments.push(segment);
      wake();
    },
    onProgress(ms, durationMs) {
      const processedMs = Math.floor(ms);
      if (isOver || processedMs <= processed) return;
      processed = processedMs;
      progress = { processedMs, durationMs };
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    [Symbol.asyncIterator]: read,
  };
}

function violation(what: string): EngineError {
  return new EngineError('engine-failed', 'The engine violated the order of segments of its contract.', {
    cause: new Error(what),
  });
}
