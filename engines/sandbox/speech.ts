/**
 * Synthesizes beeps: one per word, with a length proportional to the word, in the pitch of the voice. A speed of 2
 * halves their length; instructions raise them by an octave.
 */
import { EngineError, type EngineContext, type Pcm, type SpeechCall, type SpeechEngine } from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { defineSandbox, serveSandbox } from './models.ts';

/** Hz. */
const sampleRate = 16_000;
/** Roughly the speed of human speech. */
const msPerCharacter = 50;
const msBetweenWords = 100;
/** Delay of the slow model before each word. */
const slowMs = 500;

export const speech = defineSandbox('speech', createSpeaker);

function createSpeaker(context: EngineContext): SpeechEngine {
  const voices = languages.map(({ code, name }) => ({ id: code, name: `${name} beeps`, language: code }));
  const { models, modelOf } = serveSandbox('sandbox-speech', {
    voices,
    defaultVoice: languages[0].code,
    supports: ['speed', 'instructions'],
  });
  return {
    models,
    // eslint-disable-next-line @typescript-eslint/require-await -- async, so that errors reject
    async synthesize(call, { signal }) {
      const delayMs = modelOf(call.model).isSlow ? slowMs : 0;
      const { speed = 1, instructions } = call;
      const pitch = voiceFor(call).pitch * (instructions === undefined ? 1 : 2);
      const samples = beeps(call.text, { pitch, speed, delayMs }, signal);
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
  /** Hz. */
  readonly pitch: number;
  readonly speed: number;
  /** Delay before each word. */
  readonly delayMs: number;
}

/** Punctuation is silent. A text without words is one pause. */
async function* beeps(
  text: string,
  { pitch, speed, delayMs }: Manner,
  signal: AbortSignal,
): Pcm['samples'] & AsyncGenerator<Int16Array> {
  const between = new Int16Array(lengthOf(msBetweenWords / speed));
  yield between;
  for (const [word] of text.matchAll(/[\p{L}\p{N}]{1,40}/gu)) {
    if (delayMs > 0) await pause(delayMs, signal);
    yield beep(pitch, lengthOf((Array.from(word).length * msPerCharacter) / speed));
    yield between;
  }
}

function lengthOf(ms: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

/** Fades in and out to avoid clicks. */
function beep(hertz: number, length: number): Int16Array {
  const fade = lengthOf(5);
  return Int16Array.from({ length }, (_, i) => {
    const loudness = Math.min(1, i / fade, (length - i) / fade);
    return Math.round(8_000 * loudness * Math.sin((2 * Math.PI * hertz * i) / sampleRate));
  });
}
