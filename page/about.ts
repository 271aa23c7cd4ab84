/** A transcript that the next question is about. */
import { signal } from '@preact/signals';
import { maxTextLength, type About } from './conversation-state.ts';
import { shortened, type TimedTranscript } from './reader/timed-transcript.ts';

export const about = signal<About | undefined>(undefined);

/** Left for the question and the title. */
const questionLength = 2_000;

/** The service takes a limited number of characters in one message: a longer transcript loses its end. */
export function attach(title: string, transcript: TimedTranscript): void {
  about.value = { title, ...shortened(transcript, maxTextLength - questionLength) };
}

export function takeAbout(): About | undefined {
  const { value } = about;
  about.value = undefined;
  return value;
}
