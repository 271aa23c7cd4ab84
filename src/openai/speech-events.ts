/** Speech as server-sent events: the audio in base64, piece by piece. */
import type { Schemas } from './operations.ts';

type SpeechEvent = Schemas['SpeechEvent'];

/** Engines do not count tokens. */
const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 } as const;

export async function* toSpeechEvents(audio: AsyncIterable<Uint8Array>): AsyncGenerator<SpeechEvent> {
  for await (const { buffer, byteOffset, length } of audio) {
    yield { type: 'speech.audio.delta', audio: Buffer.from(buffer, byteOffset, length).toString('base64') };
  }
  yield { type: 'speech.audio.done', usage };
}
