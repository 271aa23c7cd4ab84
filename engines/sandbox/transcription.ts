/**
 * Decodes the recording as any local engine does, and reads the speech of the sandbox in it. Any other sound becomes a
 * fixed sentence, whose segments and words share the duration in proportion to their length; silence is "". A
 * translation of another sound is the English sentence. The prompt, keywords and temperature have no effect. A spoken
 * line `fail: CODE` makes the transcription fail.
 */
import {
  EngineError,
  type EngineContext,
  type TimedText,
  type TranscriptionEngine,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { lengthOf, readSlice } from '../../lib/wav.ts';
import { readSpeech, type Transcribed } from './read-speech.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { defineSandbox, serveSandbox } from './models.ts';
import { readScript } from './script.ts';

const supports = ['prompt', 'temperature', 'segment', 'word', 'keywords', 'translate'] as const;

/** Duration of the slow model in milliseconds; it reports one segment after another. */
const slowMs = 3_000;
const waiting = 64;

export const transcription = defineSandbox('transcription', createListener);

function createListener(context: EngineContext): TranscriptionEngine {
  const { models, modelOf } = serveSandbox('sandbox-transcribe', {
    supports,
    languages: languages.map(({ code }) => code),
  });
  const queue = context.queue({ slots: context.cores, waiting });
  return {
    models,
    decodes: true,
    async transcribe(call, options) {
      const { signal } = options;
      const spoken = languageFor(call.language);
      const totalMs = modelOf(call.model).isSlow ? slowMs : 0;
      const { durationMs, transcribed } = await queue.run(async () => {
        const sound = await context.decode(call.recording, { signal });
        return { durationMs: lengthOf(sound), transcribed: await readSpeech(() => readSlice(sound), signal) };
      }, options);
      const { text, language, segments, words } = transcribed ?? {
        ...madeUp(call.translate ? languageFor('en') : spoken, durationMs),
        language: spoken.code,
      };
      const { failure } = readScript(text);
      if (failure !== undefined) throw new EngineError(failure, `Sandbox: the speech asks for the failure ${failure}.`);
      await report(segments, { ...options, durationMs, totalMs });
      return {
        text,
        language: text === '' ? null : (call.language ?? language),
        durationMs,
        ...(call.timestamps?.includes('segment') && { segments }),
        ...(call.timestamps?.includes('word') && { words }),
      };
    },
  };
}

interface Pace {
  readonly durationMs: number;
  readonly totalMs: number;
}

/** Reports each segment, evenly over `totalMs`. */
async function report(
  segments: readonly TimedText[],
  { signal, onSegment, onProgress, durationMs, totalMs }: TranscriptionOptions & Pace,
): Promise<void> {
  if (segments.length === 0) {
    await pause(totalMs, signal);
    onProgress?.(durationMs, durationMs);
  }
  for (const segment of segments) {
    await pause(totalMs / segments.length, signal);
    onSegment?.(segment);
    onProgress?.(segment.endMs, durationMs);
  }
}

function madeUp({ segments }: Language, durationMs: number): Omit<Transcribed, 'language'> {
  return {
    text: segments.join(' '),
    segments: placeTexts(segments, durationMs),
    words: placeTexts(
      segments.flatMap((part) => part.split(' ')),
      durationMs,
    ),
  };
}

/** Fills the duration with the texts, in proportion to their letters. */
function placeTexts(texts: readonly string[], durationMs: number): TimedText[] {
  const lettersIn = (text: string) => text.replaceAll(' ', '').length;
  const total = lettersIn(texts.join(''));
  let letters = 0;
  let endMs = 0;
  return texts.map((text) => {
    const startMs = endMs;
    letters += lettersIn(text);
    endMs = Math.round((durationMs * letters) / total);
    return { startMs, endMs, text };
  });
}

function languageFor(code: string | undefined): Language {
  const found = code === undefined ? languages[0] : findLanguage(code);
  if (found) return found;
  const supported = languages.map((language) => language.code).join(', ');
  throw new EngineError('language-not-supported', `Unsupported language "${code}"; supported: ${supported}.`);
}
