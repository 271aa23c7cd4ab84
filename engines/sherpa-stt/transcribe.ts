/** Decodes a recording, then transcribes it piece by piece with the program in host.ts. */
import {
  EngineError,
  type EngineContext,
  type Recording,
  type Resident,
  type TimedText,
  type TimestampKind,
  type Transcript,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { isArrayOf } from '../../lib/json.ts';
import { lengthOf } from '../../lib/wav.ts';
import type { RecognizedPiece } from './host.ts';
import type { UsableModel } from './model-facts.ts';
import { segmentsOf, textOf, wordsOf, type Word } from './words.ts';

export interface TranscribeRequest {
  readonly host: Resident;
  readonly recording: Recording;
  readonly timestamps?: readonly TimestampKind[] | undefined;
  /** For models that accept a language: that of the request, or else the only one of the model. */
  readonly hint: string | undefined;
  /** The language of all recordings, if the model has only one. */
  readonly language: string | undefined;
  readonly found: Pick<UsableModel, 'marksWords' | 'hasTimes'>;
}

export async function transcribe(
  { host, recording, timestamps = [], hint, language, found }: TranscribeRequest,
  context: EngineContext,
  { signal, onSegment, onProgress }: TranscriptionOptions,
): Promise<Transcript> {
  const audio = await context.decode(recording, { signal });
  const durationMs = lengthOf(audio);
  const [words, segments]: [Word[], Word[]] = [[], []];
  const noted: { detected?: string | undefined; isSilent?: true; failure?: string } = {};
  await host.call(
    { ...audio, language: hint },
    {
      signal,
      onMessage(message) {
        if (isText(message.failure)) {
          noted.failure = message.failure;
          return;
        }
        const piece = readPiece(message, durationMs);
        if (piece.text.trim() === '') noted.isSilent = true;
        else noted.detected ??= languageOf(piece);
        const own = found.hasTimes ? wordsOf(piece, found.marksWords) : [];
        words.push(...own);
        for (const segment of found.hasTimes ? segmentsOf(own) : wholeOf(piece)) {
          segments.push(segment);
          onSegment?.(toTimed(segment));
        }
        onProgress?.(piece.endMs, durationMs);
      },
    },
  );
  // Another request in the same program may have caused the failure: it concerns this one only if a piece is empty.
  if (noted.failure !== undefined && noted.isSilent) throw failed(noted.failure);
  return {
    text: textOf(segments),
    language: segments.length === 0 ? null : (language ?? noted.detected ?? null),
    durationMs,
    ...(timestamps.includes('segment') && { segments: segments.map(toTimed) }),
    ...(timestamps.includes('word') && { words: words.map(toTimed) }),
  };
}

const toTimed = ({ startMs, endMs, text }: Word): TimedText => ({ startMs, endMs, text });

/** The segment of a model without times. */
function wholeOf({ startMs, endMs, text }: RecognizedPiece): Word[] {
  const trimmed = text.trim();
  return trimmed === '' ? [] : [{ startMs, lastMs: startMs, endMs, text: trimmed, isSpaced: true }];
}

/**
 * Extracts the language code from a tag such as `<|en|>`. Undefined for Cantonese (`<|yue|>`), which has no ISO 639-1
 * code.
 */
const languageOf = ({ lang }: RecognizedPiece): string | undefined => /^<\|([a-z]{2})\|>$/.exec(lang)?.[1];

function readPiece(
  { startMs, endMs, text, lang, tokens, starts }: Readonly<Record<string, unknown>>,
  durationMs: number,
): RecognizedPiece {
  const isValid =
    isNumber(startMs) &&
    isNumber(endMs) &&
    isText(text) &&
    isText(lang) &&
    isArrayOf(tokens, isText) &&
    isArrayOf(starts, isNumber);
  if (!isValid) throw failed('the program wrote a message of an unexpected structure');
  return { startMs, endMs: Math.min(endMs, durationMs), text, lang, tokens, starts };
}

const failed = (cause: string): EngineError =>
  new EngineError('engine-failed', 'The loaded model failed.', { cause: new Error(cause) });

const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';
