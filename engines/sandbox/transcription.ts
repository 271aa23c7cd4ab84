/**
 * Decodes the recording as any local engine does, and returns a fixed sentence, or "" for silence. Its segments and
 * words share the duration in proportion to their length. A translation is the English sentence. The prompt, keywords
 * and temperature have no effect.
 */
import {
  EngineError,
  type Decoded,
  type EngineContext,
  type TimedText,
  type Transcript,
  type TranscriptionCall,
  type TranscriptionEngine,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { lengthOf, readSlice } from '../../lib/wav.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { defineSandbox, serveSandbox } from './models.ts';

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
      const { durationMs, silent } = await queue.run(async () => {
        const sound = await context.decode(call.recording, { signal });
        return { durationMs: lengthOf(sound), silent: await isSilent(sound, signal) };
      }, options);
      if (silent) {
        await pause(totalMs, signal);
        options.onProgress?.(durationMs, durationMs);
        return { text: '', language: null, durationMs, ...timesOf([], durationMs, call) };
      }
      const { segments } = call.translate ? languageFor('en') : spoken;
      await report(placeTexts(segments, durationMs), { ...options, durationMs, totalMs });
      return { text: segments.join(' '), language: spoken.code, durationMs, ...timesOf(segments, durationMs, call) };
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
  for (const segment of segments) {
    await pause(totalMs / segments.length, signal);
    onSegment?.(segment);
    onProgress?.(segment.endMs, durationMs);
  }
}

function timesOf(
  parts: readonly string[],
  durationMs: number,
  { timestamps }: TranscriptionCall,
): Pick<Transcript, 'segments' | 'words'> {
  const words = parts.flatMap((part) => part.split(' '));
  return {
    ...(timestamps?.includes('segment') && { segments: placeTexts(parts, durationMs) }),
    ...(timestamps?.includes('word') && { words: placeTexts(words, durationMs) }),
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

/** Silence threshold, of 32,768: above the noise that codecs add to silence. */
const silenceLevel = 328;

/** True if no sample of the decoded recording reaches the silence threshold. */
async function isSilent(sound: Decoded, signal: AbortSignal): Promise<boolean> {
  for await (const samples of readSlice(sound)) {
    signal.throwIfAborted();
    if (samples.some((sample) => Math.abs(sample) >= silenceLevel)) return false;
  }
  return true;
}
