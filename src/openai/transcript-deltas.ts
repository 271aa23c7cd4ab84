/** A transcription as OpenAI streams it: deltas that concatenate to the text of the last event. */
import type { TranscriptionEvent } from '../transcription/wire.ts';
import type { Schemas } from './operations.ts';

type DeltaEvent = Schemas['TranscriptionEvent'];

/**
 * One delta per segment as the engine reports it, and one for the rest of the text. Clients read either the deltas or the
 * last event, so both have the text that was sent, even if the engine has corrected a segment since.
 */
export async function* toDeltas(
  events: AsyncIterable<TranscriptionEvent>,
): AsyncGenerator<DeltaEvent, void, undefined> {
  let sent = '';
  for await (const event of events) {
    const delta = deltaOf(event, sent);
    if (delta !== '') yield { type: 'transcript.text.delta', delta };
    sent += delta;
    if (event.type === 'transcription.completed') yield { type: 'transcript.text.done', text: sent };
  }
}

function deltaOf(event: TranscriptionEvent, sent: string): string {
  if (event.type === 'transcription.completed') return restOf(event.result.text, sent);
  if (event.type !== 'segment.created') return '';
  const text = event.segment.text.trim();
  return text === '' ? '' : `${separatorOf(sent, text)}${text}`;
}

/** What follows in the text, whatever the spaces in both; "" if the text does not begin with what was sent. */
function restOf(text: string, sent: string): string {
  let at = 0;
  for (const character of sent.replaceAll(/\s/g, '')) {
    while (/\s/.test(text.charAt(at))) at += 1;
    if (!text.startsWith(character, at)) return '';
    at += character.length;
  }
  return text.slice(at);
}

/** Scripts that do not separate words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/** Segments are joined with spaces, except in languages without them. */
function separatorOf(sent: string, text: string): string {
  if (sent === '') return '';
  const last = Array.from(sent.slice(-2)).at(-1) ?? '';
  const [first = ''] = text;
  return unspaced.test(last) && unspaced.test(first) ? '' : ' ';
}
