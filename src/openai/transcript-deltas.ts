/**
 * Streams a transcription in OpenAI's format: deltas that concatenate to the text of the last event. The speaker
 * segments come after the deltas, once all of them are known.
 */
import { toTextDeltas } from '../transcription/stream.ts';
import type { TranscriptionEvent } from '../transcription/wire.ts';
import type { Schemas } from './operations.ts';
import { languagesOf, toSpeakerSegments } from './transcript-json.ts';

export async function* toDeltas(
  events: AsyncIterable<TranscriptionEvent>,
): AsyncGenerator<Schemas['TranscriptionEvent'], void, undefined> {
  for await (const part of toTextDeltas(events)) {
    if ('delta' in part) yield { type: 'transcript.text.delta', delta: part.delta };
    else {
      yield* toSpeakerSegments(
        (part.result.turns ?? []).map(({ start_ms, end_ms, ...turn }) => ({
          startMs: start_ms,
          endMs: end_ms,
          ...turn,
        })),
      );
      yield { type: 'transcript.text.done', text: part.text, languages: languagesOf(part.result.language) };
    }
  }
}
