/** Progress of a transcription: applies its events to the state that the page shows. Pure. */
import { joinTexts } from '../lib/join-texts.ts';
import type { TranscriptionEvent } from '../src/client/index.ts';

export interface Transcript {
  /** Share of the upload, 0 to 1; undefined if the browser does not report it. */
  readonly sent?: number;
  /** Recordings that are transcribed before this one; undefined when its turn has come. */
  readonly ahead?: number;
  /** Share of the recording that has been transcribed, 0 to 1; undefined if the model does not report it. */
  readonly done?: number;
  /** True if the model is being loaded. */
  readonly isLoading?: boolean;
  /** The text so far. */
  readonly text: string;
}

export const newTranscript: Transcript = { text: '' };

export function applyTranscriptionEvent(transcript: Transcript, event: TranscriptionEvent): Transcript {
  switch (event.type) {
    case 'transcription.queued':
      return { ...transcript, ahead: event.ahead };
    case 'segment.created':
      return { ...transcript, text: joinTexts([transcript.text, event.segment.text]) };
    case 'transcription.progress': {
      const { processed_ms: processed, duration_ms: duration = 0 } = event;
      const { ahead: _, ...begun } = transcript;
      return duration > 0 ? { ...begun, done: Math.min(1, processed / duration) } : begun;
    }
    default:
      return transcript;
  }
}

/** True if the upload is complete, and the service has not reported any progress. */
export const isUnknown = ({ sent = 1, ahead, done = 0, text }: Transcript): boolean =>
  sent === 1 && ahead === undefined && done === 0 && text === '';

export function textOfTranscript(transcript: Transcript): string {
  const { sent, ahead, done, isLoading } = transcript;
  if (sent !== undefined && sent < 1) return `Uploading: ${percent(sent)}.`;
  if (ahead !== undefined) return ahead === 0 ? 'Next in the queue.' : `In the queue: ${ahead} ahead.`;
  if (isLoading && isUnknown(transcript)) return 'Loading the model.';
  return done === undefined ? 'Transcribing.' : `Transcribing: ${percent(done)}.`;
}

/** Progress of the current step, 0 to 1. */
export const shareOf = ({ sent, done }: Transcript): number | undefined =>
  sent !== undefined && sent < 1 ? sent : done;

const percent = (share: number) => `${Math.round(share * 100)} %`;
