/** Speaks in beeps: one for each word, as long as the word, in the pitch of the voice. */
import {
  EngineError,
  defineEngine,
  type EngineContext,
  type Pcm,
  type SpeechCall,
  type SpeechEngine,
} from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { createCatalogue, optionsSchema } from './models.ts';

/** Hz. */
const sampleRate = 16_000;
/** Milliseconds; together about as long as a person takes. */
const perCharacter = 50;
const pauseBetween = 100;
/** Milliseconds that the slow model thinks about each word. */
const slowMs = 500;

export const speech = defineEngine<'speech', object>({
  contract: 1,
  name: 'sandbox',
  capability: 'speech',
  options: optionsSchema,
  create: (_options, context) => createSpeaker(context),
});

function createSpeaker(context: EngineContext): SpeechEngine {
  const voices = languages.map(({ code, name }) => ({ id: code, name: `${name} beeps`, language: code }));
  const { isSlow, ...catalogue } = createCatalogue('sandbox-speech', { voices });
  return {
    ...catalogue,
    // eslint-disable-next-line @typescript-eslint/require-await -- a refusal is to reject
    async synthesize(call, { signal }) {
      const delayMs = isSlow(call.model) ? slowMs : 0;
      const samples = beeps(call.text, voiceFor(call), { delayMs, signal });
      return context.encode({ sampleRate, samples }, call.format, { signal });
    },
  };
}

function voiceFor({ voice, language }: SpeechCall): Language {
  if (voice === undefined) return findLanguage(language ?? '') ?? languages[0];
  const found = findLanguage(voice);
  if (found) return found;
  throw new EngineError(
    'voice-not-supported',
    `There is no voice "${voice}"; the listing of the models names them all.`,
  );
}

/** Punctuation is silent; a text without a word is a pause. */
async function* beeps(
  text: string,
  { pitch }: Language,
  { delayMs, signal }: { readonly delayMs: number; readonly signal: AbortSignal },
): Pcm['samples'] & AsyncGenerator<Int16Array> {
  const between = new Int16Array(lengthOf(pauseBetween));
  yield between;
  for (const [word] of text.matchAll(/[\p{L}\p{N}]{1,40}/gu)) {
    if (delayMs > 0) await pause(delayMs, signal);
    yield beep(pitch, lengthOf(Array.from(word).length * perCharacter));
    yield between;
  }
}

function lengthOf(ms: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

/** Swells and fades, so that it does not click. */
function beep(hertz: number, length: number): Int16Array {
  const fade = lengthOf(5);
  return Int16Array.from({ length }, (_, i) => {
    const loudness = Math.min(1, i / fade, (length - i) / fade);
    return Math.round(8_000 * loudness * Math.sin((2 * Math.PI * hertz * i) / sampleRate));
  });
}
