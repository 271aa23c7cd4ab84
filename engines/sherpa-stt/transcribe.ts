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
import { segmentsOf, wordsOf, type Word } from './words.ts';

export interface TranscribeRequest {
  readonly host: Resident;
  readonly recording: Recording;
  readonly timestamps?: readonly TimestampKind[] | undefined;
  /** The language in the settings. */
  readonly language: string | undefined;
  readonly marksWords: boolean;
}

export async function transcribe(
  { host, recording, timestamps = [], language, marksWords }: TranscribeRequest,
  context: EngineContext,
  { signal, onSegment, onProgress }: TranscriptionOptions,
): Promise<Transcript> {
  const audio = await context.decode(recording, { signal });
  const durationMs = lengthOf(audio);
  const separator = marksWords ? ' ' : '';
  const [words, segments]: [Word[], TimedText[]] = [[], []];
  await host.call(
    { ...audio },
    {
      signal,
      onMessage(message) {
        const piece = readPiece(message, durationMs);
        const found = wordsOf(piece, marksWords);
        words.push(...found);
        for (const segment of segmentsOf(found, separator)) {
          segments.push(segment);
          onSegment?.(segment);
        }
        onProgress?.(piece.endMs, durationMs);
      },
    },
  );
  return {
    text: segments.map(({ text }) => text).join(separator),
    language: segments.length === 0 ? null : (language ?? null),
    durationMs,
    ...(timestamps.includes('segment') && { segments }),
    ...(timestamps.includes('word') && { words: words.map(({ startMs, endMs, text }) => ({ startMs, endMs, text })) }),
  };
}

function readPiece(
  { startMs, endMs, tokens, starts }: Readonly<Record<string, unknown>>,
  durationMs: number,
): RecognizedPiece {
  if (!isNumber(startMs) || !isNumber(endMs) || !isArrayOf(tokens, isText) || !isArrayOf(starts, isNumber)) {
    const cause = new Error('the program wrote a message of an unexpected structure');
    throw new EngineError('engine-failed', 'The loaded model failed.', { cause });
  }
  return { startMs, endMs: Math.min(endMs, durationMs), tokens, starts };
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';
