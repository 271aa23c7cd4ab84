/** The text of a transcription that runs, as deltas that concatenate to the text at the end. */
import type { TranscriptionEvent } from './wire.ts';

type Result = Extract<TranscriptionEvent, { type: 'transcription.completed' }>['result'];

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
    end = delta.slice(-2) || end; // to read the end of a long text would copy it, for each segment
    if (event.type === 'transcription.completed') yield { text, result: event.result };
  }
}

/** `end`: of the text that was sent. */
function deltaOf(event: TranscriptionEvent, end: string): string {
  if (event.type !== 'segment.created') return '';
  const text = event.segment.text.trim();
  return text === '' ? '' : `${separatorOf(end, text)}${text}`;
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

/** Matches scripts that do not separate words with spaces. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/** Segments are joined with spaces, except in languages without them. */
function separatorOf(end: string, text: string): string {
  if (end === '') return '';
  const last = Array.from(end).at(-1) ?? '';
  const [first = ''] = text;
  return unspaced.test(last) && unspaced.test(first) ? '' : ' ';
}
