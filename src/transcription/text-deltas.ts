/** The text of a transcription that runs, as deltas that concatenate to the text at the end. */
import { separatorOf } from '../../lib/join-texts.ts';
import type { TranscriptionEvent } from './wire.ts';

type Result = Extract<TranscriptionEvent, { type: 'transcription.completed' }>['result'];

/** Characters at the end of the text that decide whether a space follows. */
const maxEnd = 16;

/** A delta, or the end. */
export type TextDelta = { readonly delta: string } | { readonly text: string; readonly result: Result };

/**
 * Yields one delta per reported segment, one for the rest of the text, and then the whole text. Clients read either the
 * deltas or the text, so both are the text that was sent, even if the engine has corrected a segment since.
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
    end = (end + delta.slice(-maxEnd)).slice(-maxEnd); // to read the end of a long text would copy it
    if (event.type === 'transcription.completed') yield { text, result: event.result };
  }
}

/** `end`: of the text that was sent. */
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
