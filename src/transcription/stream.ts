/** Streams a transcription either as events (the engine's reports, then the result) or as text deltas. */
import type { TimedText, TranscriptionOptions } from '../../engines/contract/index.ts';
import { violation } from '../engine-host/guard/failures.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { supports } from '../engine-host/models/model-selection.ts';
import { linkedSignal } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import { separatorOf } from '../../lib/join-texts.ts';
import type { SpokenTranscript } from './speakers/spoken.ts';
import { toTimedText, toTranscription, type TranscriptionEvent } from './wire.ts';

interface StreamRequest {
  /** The request id. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Runs the transcription with these callbacks and signal. */
type Transcribe = (options: TranscriptionOptions) => Promise<SpokenTranscript>;

/**
 * Yields events up to `transcription.completed`; failures are thrown. The engine starts when the second event is
 * requested and does not wait for the reader. It is aborted when the reader ends the iteration.
 */
export async function* streamTranscript(
  model: ServedModel<'transcription'>,
  transcribe: Transcribe,
  { id, signal }: StreamRequest,
): AsyncGenerator<TranscriptionEvent, void, undefined> {
  const scope = linkedSignal(signal);
  let seq = 0;
  try {
    yield { type: 'transcription.started', seq: seq++, id, model: model.id };
    scope.signal.throwIfAborted();
    const { end, onSegment, onProgress, onQueued, ...reports } = createReports();
    const listener = { signal: scope.signal, onProgress, onQueued, ...(supports(model, 'segment') && { onSegment }) };
    const working = scope.race(transcribe(listener)).finally(end);
    working.catch(ignore); // the promise is awaited after the reports
    for await (const report of reports) {
      scope.signal.throwIfAborted();
      yield toEvent(report, seq++);
    }
    const transcript = await working;
    scope[Symbol.dispose]();
    yield { type: 'transcription.completed', seq, result: toTranscription(transcript, model.id) };
  } finally {
    scope.end(readerEnded);
  }
}

/** Returns false for the first event, which only announces that the stream has started. */
export function isFromEngine({ type }: TranscriptionEvent): boolean {
  return type !== 'transcription.started';
}

/** Created once, because each new error captures a stack trace. */
const readerEnded = new Error('the reader of the transcription has ended');

function toEvent(report: Report, seq: number): TranscriptionEvent {
  if ('ahead' in report) return { type: 'transcription.queued', seq, ahead: report.ahead };
  if ('segment' in report) return { type: 'segment.created', seq, segment: toTimedText(report.segment) };
  const { processedMs, durationMs } = report.progress;
  return {
    type: 'transcription.progress',
    seq,
    processed_ms: processedMs,
    ...(durationMs !== undefined && { duration_ms: Math.round(durationMs) }),
  };
}

type Result = Extract<TranscriptionEvent, { type: 'transcription.completed' }>['result'];

/** Number of characters at the end of the text that determine whether a space follows. */
const maxEnd = 16;

/** A delta, or the last item with the whole text. */
export type TextDelta = { readonly delta: string } | { readonly text: string; readonly result: Result };

/**
 * Yields one delta per reported segment, one for the rest of the text, and then the whole text. Clients read either the
 * deltas or the whole text, so both contain the text as sent, even if the engine has corrected a segment since.
 */
export async function* toTextDeltas(
  events: AsyncIterable<TranscriptionEvent>,
): AsyncGenerator<TextDelta, void, undefined> {
  let text = '';
  let end = '';
  for await (const event of events) {
    const delta = event.type === 'transcription.completed' ? restOf(event.result.text, text) : deltaOf(event, end);
    if (delta !== '') yield { delta };
    text += delta;
    end = (end + delta.slice(-maxEnd)).slice(-maxEnd); // reading the end of a long text would copy the text
    if (event.type === 'transcription.completed') yield { text, result: event.result };
  }
}

/** Returns the delta for an event. `end` is the end of the text sent so far. */
function deltaOf(event: TranscriptionEvent, end: string): string {
  if (event.type !== 'segment.created') return '';
  const text = event.segment.text.trim();
  return separatorOf(end, text) + text;
}

/** Returns the text after `sent`, ignoring differences in spaces; "" if the text does not begin with `sent`. */
function restOf(text: string, sent: string): string {
  let at = 0;
  for (const character of sent.replaceAll(/\s/g, '')) {
    while (/\s/.test(text.charAt(at))) at += 1;
    if (!text.startsWith(character, at)) return '';
    at += character.length;
  }
  return text.slice(at);
}

interface Progress {
  readonly processedMs: number;
  /** Length of the recording, if known. */
  readonly durationMs: number | undefined;
}

export type Report = { readonly segment: TimedText } | { readonly progress: Progress } | { readonly ahead: number };

/**
 * The reports of an engine for one reader, which may be slower than the engine. After `end()`, the iteration ends once
 * every report has been read.
 */
interface Reports extends AsyncIterable<Report, undefined> {
  /**
   * Throws `engine-failed`, which ends the call, if the segment is out of order or too many segments are waiting for
   * the reader.
   */
  readonly onSegment: (segment: TimedText) => void;
  /** Only the latest progress is kept for the reader; progress that does not increase is dropped. */
  readonly onProgress: (processedMs: number, durationMs?: number) => void;
  /**
   * Only the latest position is kept for the reader. null marks the end of the wait and becomes progress of 0 ms. Calls
   * after a segment or progress are ignored.
   */
  readonly onQueued: (ahead: number | null) => void;
  /** Ends the reports; later ones are dropped. */
  readonly end: () => void;
}

/**
 * Maximum number of UTF-16 code units in segments that are waiting for the reader, including an allowance per segment.
 * The largest recording that fits in 25 MB (ten hours of speech at 6 kbit/s) has 600,000 characters, so only a broken
 * engine reaches the limit.
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

  /** From now on, the queue position is obsolete. */
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
