/** Streams a transcription as events: the reports of the engine, then the result. */
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { supports } from '../engine-host/models/model-selection.ts';
import { linkedSignal } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import { createReports, type Report } from './reports.ts';
import { transcribe, type TranscriptionRequest, type TranscriptionServices } from './run.ts';
import { toTimedText, toTranscription, type TranscriptionEvent } from './wire.ts';

interface StreamRequest {
  /** The request id. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/**
 * Events up to `transcription.completed`; failures are thrown. The engine starts when the second event is requested and
 * does not wait for the reader. It is aborted when the reader ends the iteration.
 */
export async function* streamTranscript(
  model: ServedModel<'transcription'>,
  request: TranscriptionRequest,
  { id, signal }: StreamRequest,
  services: TranscriptionServices,
): AsyncGenerator<TranscriptionEvent, void, undefined> {
  const scope = linkedSignal(signal);
  let seq = 0;
  try {
    yield { type: 'transcription.started', seq: seq++, id, model: model.id };
    scope.signal.throwIfAborted();
    const { end, onSegment, onProgress, onQueued, ...reports } = createReports();
    const listener = { signal: scope.signal, onProgress, onQueued, ...(supports(model, 'segment') && { onSegment }) };
    const working = scope.race(transcribe(model, request, listener, services)).finally(end);
    working.catch(ignore); // prevents an unhandled rejection while the reports are still being read
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

/** The first event only says that the stream has started. */
export function isFromEngine({ type }: TranscriptionEvent): boolean {
  return type !== 'transcription.started';
}

/** Created once: each new error captures a stack. */
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
