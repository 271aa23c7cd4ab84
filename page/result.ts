/** The result of a transcription, from its events. */
import { ParlanceError, type Transcription, type TranscriptionEvent } from '../src/client/index.ts';

/**
 * Resolves with the transcript. `take` is called with each event before the last one. Rejects with the problem of a
 * transcription that failed.
 */
export async function resultOf(
  events: AsyncIterable<TranscriptionEvent>,
  take: (event: TranscriptionEvent) => void,
): Promise<Transcription> {
  for await (const event of events) {
    if (event.type === 'transcription.completed') return event.result;
    if (event.type === 'transcription.failed') throw ParlanceError.fromProblem(event.problem);
    take(event);
  }
  throw new Error('The stream of a transcription ended without its last event.'); // the client throws first
}
