/** Decodes the recording like any local engine, and returns a fixed sentence, or "" for silence. */
import { createReadStream } from 'node:fs';
import { EngineError, defineEngine, type EngineContext, type TranscriptionEngine } from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { readWav } from '../../lib/wav-reader.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { optionsSchema, serveSandbox } from './models.ts';

const slowMs = 3_000;
const waiting = 64;

export const transcription = defineEngine<'transcription', object>({
  contract: 1,
  name: 'sandbox',
  capability: 'transcription',
  options: optionsSchema,
  create: (_options, context) => createListener(context),
});

function createListener(context: EngineContext): TranscriptionEngine {
  const { modelOf, ...served } = serveSandbox('sandbox-transcribe');
  const queue = context.queue({ slots: context.cores, waiting });
  return {
    ...served,
    async transcribe({ recording, model, language }, { signal }) {
      const spoken = languageFor(language);
      if (modelOf(model).isSlow) await pause(slowMs, signal);
      return queue.run(
        async () => {
          const { wavPath, durationMs } = await context.decode(recording, { signal });
          if (await isSilent(wavPath, signal)) return { text: '', language: null, durationMs };
          return { text: spoken.transcript, language: spoken.code, durationMs };
        },
        { signal },
      );
    },
  };
}

function languageFor(code: string | undefined): Language {
  const found = code === undefined ? languages[0] : findLanguage(code);
  if (found) return found;
  const supported = languages.map((language) => language.code).join(', ');
  throw new EngineError('language-not-supported', `Unsupported language "${code}"; supported: ${supported}.`);
}

/** Silence threshold, of 32,768: above the noise that codecs add to silence. */
const silenceLevel = 328;

/** True if no sample of the decoded recording reaches the silence threshold. */
async function isSilent(wavPath: string, signal: AbortSignal): Promise<boolean> {
  const wav = await readWav(createReadStream(wavPath));
  for await (const samples of wav?.samples ?? []) {
    signal.throwIfAborted();
    if (samples.some((sample) => Math.abs(sample) >= silenceLevel)) return false;
  }
  return true;
}
