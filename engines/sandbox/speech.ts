/**
 * Synthesizes tones that encode the text, so that the transcription of the sandbox reads it back. A speed of 2, which
 * is the fastest, halves their length. The first tones of a word name the voice; instructions change it. The silence
 * before and after the text, half a second at a speed of 1, is for microphones that start late, and ends a turn.
 */
import { EngineError, type EngineContext, type SpeechCall, type SpeechEngine } from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { defineSandbox, serveSandbox } from './models.ts';
import { type Burst, burstsOf, createTones, sampleRate, silenceBetween } from './tones.ts';

/** Delay of the slow model before each word. */
const slowMs = 500;

export const speech = defineSandbox('speech', createSpeaker);

function createSpeaker(context: EngineContext): SpeechEngine {
  const voices = languages.map(({ code, name }) => ({ id: code, name: `${name} tones`, language: code }));
  const { models, modelOf } = serveSandbox('sandbox-speech', {
    voices,
    defaultVoice: languages[0].code,
    supports: ['speed', 'instructions'],
  });
  return {
    models,
    verbatim: true,
    // eslint-disable-next-line @typescript-eslint/require-await -- async, so that errors reject
    async synthesize(call, { signal }) {
      const delayMs = modelOf(call.model).isSlow ? slowMs : 0;
      const { text, speed = 1, instructions } = call;
      const voice = languages.indexOf(voiceFor(call)) + (instructions === undefined ? 0 : languages.length);
      const samples = speak(burstsOf(text, voice), { speed, delayMs }, signal);
      return context.encode({ sampleRate, samples }, call.format, { signal });
    },
  };
}

function voiceFor({ voice, language }: SpeechCall): Language {
  if (voice === undefined) return findLanguage(language ?? '') ?? languages[0];
  const found = findLanguage(voice);
  if (found) return found;
  throw new EngineError('voice-not-supported', `Unknown voice "${voice}"; the list of models contains all voices.`);
}

interface Manner {
  readonly speed: number;
  /** Delay before each burst. */
  readonly delayMs: number;
}

async function* speak(
  bursts: readonly Burst[],
  { speed, delayMs }: Manner,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const soundOf = createTones(speed);
  const between = silenceBetween(speed);
  const around = silenceBetween(speed, 5);
  yield around;
  for (const burst of bursts) {
    if (delayMs > 0) await pause(delayMs, signal);
    yield soundOf(burst);
    yield between;
  }
  yield around;
}
