/** Reads the JSON that whisper-cli writes with `-oj` or `-ojf`. Exit code 0 proves nothing: only a valid file is a transcript. */
import { readFile } from 'node:fs/promises';
import { EngineError, type TimedText, type TimestampKind, type Transcript } from '../contract/index.ts';
import { isObject } from '../../lib/json.ts';
import { lastLine } from '../../lib/text.ts';
import { fromWhisper } from './languages.ts';
import { createTimeline, tidy, withoutControls, withoutNotes } from './segments.ts';
import { decodeBytes, wordsOf, type Offsets, type Token } from './words.ts';

interface WhisperJson {
  readonly result: { readonly language?: string };
  readonly transcription: readonly Segment[];
}

/** Each character of the texts is one byte of UTF-8. */
export interface Segment {
  readonly text: string;
  readonly offsets?: Offsets;
  /** Only with `-ojf`. */
  readonly tokens?: readonly Token[];
}

export interface Wanted {
  readonly durationMs: number;
  readonly timestamps: readonly TimestampKind[];
}

export interface Heard {
  readonly transcript: Transcript;
  /** Whisper's code, also for silence. */
  readonly language: string | undefined;
}

export function toHeard(json: WhisperJson, wanted: Wanted): Heard {
  return { transcript: toTranscript(json, wanted), language: json.result.language };
}

/** `log` is what the program wrote to stderr. Throws `engine-failed` if the file is missing or invalid. */
export async function readTranscript(jsonPath: string, log: string, wanted: Wanted): Promise<Heard> {
  try {
    return toHeard(parse(await readFile(jsonPath)), wanted);
  } catch (cause) {
    throw new EngineError('engine-failed', 'The transcription program produced no result.', {
      cause: new Error(`whisper-cli wrote no usable JSON; output: ${lastLine(log)}`, { cause }),
    });
  }
}

/** Throws if the JSON is invalid or lacks the times that are wanted. */
export function parse(content: Buffer): WhisperJson {
  // Latin-1 keeps the bytes of characters that are cut between tokens.
  const parsed = parseJson(withoutControls(content.toString('latin1')));
  if (!isWhisperJson(parsed)) throw new Error('the JSON has an unexpected structure');
  return parsed;
}

/** The log gets the error: V8's would quote the transcript. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}

export function toTranscript({ result, transcription }: WhisperJson, { durationMs, timestamps }: Wanted): Transcript {
  const text = tidy(transcription.map((segment) => withoutNotes(decodeBytes(segment.text))).join(''));
  const times = timestamps.length === 0 ? [] : timesOf(transcription, durationMs);
  return {
    text,
    // Whisper reports a language for silence too.
    language: text === '' ? null : fromWhisper(result.language),
    durationMs,
    ...(timestamps.includes('segment') && { segments: times.map(({ segment }) => segment) }),
    ...(timestamps.includes('word') && {
      words: times.flatMap(({ segment, tokens = missing('tokens') }) => wordsOf(segment, tokens, result.language)),
    }),
  };
}

function timesOf(segments: readonly Segment[], durationMs: number) {
  const place = createTimeline(durationMs);
  return segments.flatMap(({ text, offsets = missing('offsets'), tokens }) => {
    const segment: TimedText | undefined = place({ ...offsets, text: decodeBytes(text) });
    return segment === undefined ? [] : [{ segment, tokens }];
  });
}

function missing(what: string): never {
  throw new Error(`a segment has no ${what}`);
}

function isWhisperJson(value: unknown): value is WhisperJson {
  return isObject(value) && isObject(value.result) && isArrayOf(value.transcription, isSegment);
}

export function isSegment(value: unknown): value is Segment {
  return isToken(value) && ('tokens' in value ? isArrayOf(value.tokens, isToken) : true);
}

function isToken(value: unknown): value is Token {
  if (!isObject(value) || typeof value.text !== 'string') return false;
  const { offsets } = value;
  return offsets === undefined || (isObject(offsets) && Number.isFinite(offsets.from) && Number.isFinite(offsets.to));
}

function isArrayOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}
