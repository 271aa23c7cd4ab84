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
  for await (const event of events) {
    const delta = deltaOf(event, text);
    if (delta !== '') yield { delta };
    text += delta;
    if (event.type === 'transcription.completed') yield { text, result: event.result };
  }
}

function deltaOf(event: TranscriptionEvent, sent: string): string {
  if (event.type === 'transcription.completed') return restOf(event.result.text, sent);
  if (event.type !== 'segment.created') return '';
  const text = event.segment.text.trim();
  return text === '' ? '' : `${separatorOf(sent, text)}${text}`;
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
function separatorOf(sent: string, text: string): string {
  if (sent === '') return '';
  const last = Array.from(sent.slice(-2)).at(-1) ?? '';
  const [first = ''] = text;
  return unspaced.test(last) && unspaced.test(first) ? '' : ' ';
}
