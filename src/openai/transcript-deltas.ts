/** Streams a transcription in OpenAI's format: deltas that concatenate to the text of the last event. */
import type { TranscriptionEvent } from '../transcription/wire.ts';
import type { Schemas } from './operations.ts';
import { languagesOf } from './transcript-json.ts';

type DeltaEvent = Schemas['TranscriptionEvent'];

/**
 * Yields one delta per reported segment, and one for the rest of the text. Clients read either the deltas or the last
 * event, so both contain the text that was sent, even if the engine has corrected a segment since.
 */
export async function* toDeltas(
  events: AsyncIterable<TranscriptionEvent>,
): AsyncGenerator<DeltaEvent, void, undefined> {
  let sent = '';
  for await (const event of events) {
    const delta = deltaOf(event, sent);
    if (delta !== '') yield { type: 'transcript.text.delta', delta };
    sent += delta;
    if (event.type === 'transcription.completed') {
      yield { type: 'transcript.text.done', text: sent, languages: languagesOf(event.result.language) };
    }
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
