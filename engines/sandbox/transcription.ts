/** Decodes the recording like any local engine; what it then hears is one sentence, or silence. */
import { createReadStream } from 'node:fs';
import { EngineError, defineEngine, type EngineContext, type TranscriptionEngine } from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { createCatalogue, optionsSchema } from './models.ts';

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
  const { isSlow, ...catalogue } = createCatalogue('sandbox-transcribe');
  const queue = context.queue({ slots: context.cores, waiting });
  return {
    ...catalogue,
    async transcribe({ recording, model, language }, { signal }) {
      const hinted = languageFor(language);
      if (isSlow(model)) await pause(slowMs, signal);
      return queue.run(
        async () => {
          const { wavPath, durationMs } = await context.decode(recording, { signal });
          if (await isSilent(wavPath, signal)) return { text: '', language: null, durationMs };
          return { text: hinted.transcript, language: hinted.code, durationMs };
        },
        { signal },
      );
    },
  };
}

function languageFor(code: string | undefined): Language {
  const found = code === undefined ? languages[0] : findLanguage(code);
  if (found) return found;
  const known = languages.map((language) => language.code).join(', ');
  throw new EngineError(
    'language-not-supported',
    `The sandbox does not know the language "${code}"; it knows ${known}.`,
  );
}

const headerBytes = 44;

/** Of 32,768: above the noise that codecs make of silence. */
const quietest = 328;

/** No sample of the decoded recording (mono s16, little-endian) can be heard. */
async function isSilent(wavPath: string, signal: AbortSignal): Promise<boolean> {
  let odd: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(wavPath, { start: headerBytes }) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    const bytes = Buffer.concat([odd, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    for (let at = 0; at < whole; at += 2) if (Math.abs(bytes.readInt16LE(at)) >= quietest) return false;
    odd = bytes.subarray(whole);
  }
  return true;
}
