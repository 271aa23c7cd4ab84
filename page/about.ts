/** A transcript that the next question is about. */
import { signal } from '@preact/signals';
import { maxTextLength, type About } from './conversation-state.ts';
import { shortened, type TimedTranscript } from './reader/timed-transcript.ts';

export const about = signal<About | undefined>(undefined);

/** Number of characters reserved for the question and the title. */
const questionLength = 2_000;

/** The service accepts a limited number of characters per message: the end of a longer transcript is cut off. */
export function attach(title: string, transcript: TimedTranscript): void {
  about.value = { title, ...shortened(transcript, maxTextLength - questionLength) };
}

export function takeAbout(): About | undefined {
  const { value } = about;
  about.value = undefined;
  return value;
}
