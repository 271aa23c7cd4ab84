// my-engine: counts the passages of sound in a recording. Replace `describe` by your recognizer.
import { createReadStream } from 'node:fs';
import { defineEngine, EngineError, type Pcm } from '@parlance/server/engine';

interface Options {
  /** From 0 to 32767: what is louder is sound. */
  loudness?: number;
}

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'my-engine',
  capability: 'transcription',
  options: {
    type: 'object',
    properties: {
      loudness: { type: 'integer', minimum: 0, maximum: 32767, default: 1000, description: 'What is louder is sound.' },
    },
    additionalProperties: false,
  },
  create({ loudness = 1000 }, context) {
    // Limits the number of concurrent recordings. The others wait, and their callers are served in turn.
    const queue = context.queue({ slots: context.cores, waiting: 16 });
    return {
      models: [{ id: 'my-engine', local: true }],
      async transcribe({ recording, model, language = 'en' }, { signal }) {
        if (model !== 'my-engine') throw new EngineError('unknown-model', `Unknown model ${model}.`);
        if (language !== 'en') throw new EngineError('language-not-supported', 'This engine knows English only.');
        const { wavPath, endMs: durationMs } = await context.decode(recording, { signal });
        const text = await queue.run(
          async () => describe(await context.readWav(createReadStream(wavPath)), loudness, signal),
          { signal },
        );
        return { text, language: null, durationMs };
      },
    };
  },
});

/** "" is silence. */
async function describe({ sampleRate, samples }: Pcm, loudness: number, signal: AbortSignal): Promise<string> {
  const pause = sampleRate / 10;
  let passages = 0;
  let quiet = pause;
  for await (const chunk of samples) {
    signal.throwIfAborted(); // its reason: a stream that got the signal would throw another error
    for (const sample of chunk) {
      if (Math.abs(sample) <= loudness) quiet += 1;
      else {
        if (quiet >= pause) passages += 1;
        quiet = 0;
      }
    }
  }
  return passages === 0 ? '' : `Passages of sound: ${passages}.`;
}
