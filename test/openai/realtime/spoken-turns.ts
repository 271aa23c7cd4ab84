/** The sound of turns, 24 kHz. */
import { tonePcm, type Word } from '../../support/tone-model.ts';

const rate = 24_000;

/** The sandbox reads this sound as the text. */
export async function sandboxSpeech({ url }: { readonly url: string }, input: string): Promise<Buffer> {
  const answer = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-speech', voice: 'en', input, response_format: 'pcm' }),
  });
  return Buffer.from(await answer.arrayBuffer());
}

/**
 * The tone model reads this sound as the words, without a pause at its end. The model expects half a second before the first
 * word: a hum, which it cannot hear, begins 200 ms before the word, and the turn begins 300 ms before the hum.
 */
export function toneSpeech(words: readonly Word[]): Buffer {
  const samples = tonePcm({ words, rate, tailSeconds: 0 });
  for (let at = 0.3 * rate; at < 0.5 * rate; at += 1) samples[at] = 9_000 * Math.sin((2 * Math.PI * 150 * at) / rate);
  return Buffer.concat([Buffer.alloc(0.3 * 2 * rate), Buffer.from(samples.buffer)]);
}
