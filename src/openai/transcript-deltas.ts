/** Streams a transcription in OpenAI's format: deltas that concatenate to the text of the last event. */
import { toTextDeltas } from '../transcription/stream.ts';
import type { TranscriptionEvent } from '../transcription/wire.ts';
import type { Schemas } from './operations.ts';
import { languagesOf } from './transcript-json.ts';

export async function* toDeltas(
  events: AsyncIterable<TranscriptionEvent>,
): AsyncGenerator<Schemas['TranscriptionEvent'], void, undefined> {
  for await (const part of toTextDeltas(events)) {
    if ('delta' in part) yield { type: 'transcript.text.delta', delta: part.delta };
    else yield { type: 'transcript.text.done', text: part.text, languages: languagesOf(part.result.language) };
  }
}
