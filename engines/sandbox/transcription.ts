/**
 * Decodes the recording as any local engine does, and reads the speech of the sandbox in it. A recording of the user
 * gets the transcript next to it. Any other sound becomes a fixed sentence, whose segments and words share the duration
 * in proportion to their length; silence is "". A translation of such a sound is the English sentence. The prompt,
 * keywords and temperature have no effect. A spoken line `fail: CODE` makes the transcription fail.
 */
import {
  EngineError,
  type EngineContext,
  type Span,
  type TimedText,
  type TranscriptionEngine,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { pause } from '../../lib/abort.ts';
import { lengthOf, readSlice } from '../../lib/wav.ts';
import { readSpeech, type Transcribed } from './read-speech.ts';
import { findLanguage, languages, type Language } from './languages.ts';
import { defineSandbox, serveSandbox } from './models.ts';
import type { Options } from './options.ts';
import { readRecordings, type Line } from './recordings.ts';
import { readScript } from './script.ts';

const supports = ['prompt', 'temperature', 'segment', 'word', 'keywords', 'translate'] as const;

/** Duration of the slow model in milliseconds; it reports one segment after another. */
const slowMs = 3_000;
const waiting = 64;

export const transcription = defineSandbox('transcription', createListener);

function createListener(context: EngineContext, { recordings }: Options): TranscriptionEngine {
  const { models, modelOf } = serveSandbox('sandbox-transcribe', {
    supports,
    languages: languages.map(({ code }) => code),
  });
  const find = recordings === undefined ? () => undefined : readRecordings(context.resolve(recordings));
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
        const durationMs = lengthOf(sound);
        const lines = await find(call.recording);
        if (lines) return { durationMs, transcribed: { ...placeLines(lines, durationMs), language: null } };
        return { durationMs, transcribed: await readSpeech(() => readSlice(sound), signal) };
      }, options);
      const { segments: madeUp } = call.translate ? languageFor('en') : spoken;
      const { text, language, segments, words } = transcribed ?? {
        ...placeLines(
          madeUp.map((part) => ({ text: part })),
          durationMs,
        ),
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

/** Lines without times share the duration. */
function placeLines(lines: readonly Line[], durationMs: number): Omit<Transcribed, 'language'> {
  const texts = lines.map(({ text }) => text);
  const shares = placeTexts(texts, { startMs: 0, endMs: durationMs });
  const segments = shares.map((share, index) => {
    const { startMs, endMs, text } = { ...share, ...lines[index] };
    return { startMs: Math.min(startMs, endMs, durationMs), endMs: Math.min(endMs, durationMs), text };
  });
  return { text: texts.join(' '), segments, words: segments.flatMap((one) => placeTexts(one.text.split(' '), one)) };
}

/** Fills the time with the texts, in proportion to their letters. */
function placeTexts(texts: readonly string[], { startMs, endMs }: Span): TimedText[] {
  const lettersIn = (text: string) => text.replaceAll(' ', '').length;
  const total = lettersIn(texts.join(''));
  const timeAfter = (letters: number) => Math.round(startMs + ((endMs - startMs) * letters) / total);
  let letters = 0;
  return texts.map((text) => {
    const begin = timeAfter(letters);
    letters += lettersIn(text);
    return { startMs: begin, endMs: timeAfter(letters), text };
  });
}

function languageFor(code: string | undefined): Language {
  const found = code === undefined ? languages[0] : findLanguage(code);
  if (found) return found;
  const supported = languages.map((language) => language.code).join(', ');
  throw new EngineError('language-not-supported', `Unsupported language "${code}"; supported: ${supported}.`);
}
