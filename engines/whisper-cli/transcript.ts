/**
 * Turns the output of whisper.cpp into a transcript: its JSON (`-oj`, `-ojf`), the segments that it reports while it
 * runs, and its tokens as words. Exit code 0 proves nothing: only valid JSON is a transcript.
 */
import { readFile } from 'node:fs/promises';
import { EngineError, type TimedText, type TimestampKind, type Transcript } from '../contract/index.ts';
import { placeTimes } from '../lib/place-times.ts';
import { fromWhisper } from './models.ts';
import { isArrayOf, isObject } from '../../lib/json.ts';
import { lastLine } from '../../lib/text.ts';

interface WhisperJson {
  readonly result: { readonly language?: string };
  readonly transcription: readonly Segment[];
}

/** Each character of the texts is one byte of UTF-8. */
export interface Segment {
  readonly text: string;
  readonly offsets?: Offsets;
  /** Present only if words were requested (`-ojf`). */
  readonly tokens?: readonly Token[];
}

export interface Requested {
  readonly durationMs: number;
  readonly timestamps: readonly TimestampKind[];
}

export interface RawTranscript {
  readonly transcript: Transcript;
  /** Whisper's code; also present for silence. */
  readonly language: string | undefined;
}

export function toRawTranscript(json: WhisperJson, requested: Requested): RawTranscript {
  return { transcript: toTranscript(json, requested), language: json.result.language };
}

/** `log` is what the program wrote to stderr. Throws `engine-failed` if the file is missing or invalid. */
export async function readTranscript(jsonPath: string, log: string, requested: Requested): Promise<RawTranscript> {
  try {
    return toRawTranscript(parse(await readFile(jsonPath)), requested);
  } catch (cause) {
    throw new EngineError('engine-failed', 'The transcription program produced no result.', {
      cause: new Error(`whisper-cli wrote no usable JSON; output: ${lastLine(log)}`, { cause }),
    });
  }
}

/** Throws if the JSON is invalid. */
export function parse(content: Buffer): WhisperJson {
  // Latin-1 keeps the bytes of characters that are cut between tokens.
  const parsed = parseJson(withoutControls(content.toString('latin1')));
  if (!isWhisperJson(parsed)) throw new Error('the JSON has an unexpected structure');
  return parsed;
}

/** The error is logged, and V8's own error would quote the transcript. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}

export function toTranscript(
  { result, transcription }: WhisperJson,
  { durationMs, timestamps }: Requested,
): Transcript {
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

/** Returns the segments that contain text; none ends after the next one starts. */
function timesOf(segments: readonly Segment[], durationMs: number) {
  const spoken = segments.flatMap(({ text: bytes, offsets = missing('offsets'), tokens }) => {
    const text = tidy(withoutNotes(decodeBytes(bytes)));
    return text === '' ? [] : [{ ...offsets, text, tokens }];
  });
  const placed = placeTimes(spoken, 0, durationMs);
  return placed.map(({ tokens, endMs, ...segment }, index) => ({
    segment: { ...segment, endMs: Math.min(endMs, placed[index + 1]?.startMs ?? endMs) },
    tokens,
  }));
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

/**
 * A segment as whisper.cpp reports it: its times in milliseconds may exceed the recording, and its text is not trimmed.
 */
export interface RawSegment {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Whisper's annotations for silence. */
const notes = /\[BLANK_AUDIO\]|\[ ?Silence ?\]/gi;

function withoutNotes(text: string): string {
  return text.replace(notes, '');
}

/** Trims the text, and replaces control characters and runs of spaces with single spaces. */
function tidy(text: string): string {
  return withoutControls(text).replace(/ {2,}/g, ' ').trim();
}

/** Replaces control characters, which whisper-cli does not escape, with spaces. */
function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f]/g, ' ');
}

/**
 * The returned function takes the segments one by one, in order. It returns each one trimmed, within the recording and
 * not before the one that precedes it, or undefined for silence.
 */
export function createTimeline(durationMs: number): (raw: RawSegment) => TimedText | undefined {
  let [startMs, endMs] = [0, 0];
  return ({ from, to, text: rawText }) => {
    const text = tidy(withoutNotes(rawText));
    if (text === '') return undefined;
    startMs = from > durationMs ? endMs : clamp(from, startMs, durationMs);
    endMs = clamp(to, startMs, durationMs);
    return { startMs, endMs, text };
  };
}

/** Rounds to whole milliseconds. `high` takes precedence over `low`. */
export function clamp(ms: number, low: number, high: number): number {
  return Math.min(Math.max(Math.round(ms), low), high);
}

const segmentLine = /^\[(\d+):(\d+):(\d+)\.(\d{3}) --> (\d+):(\d+):(\d+)\.(\d{3})\] {2}(.*)$/;

/** Parses `[00:00:00.000 --> 00:00:01.840]   text`; undefined for any other line. */
export function readSegmentLine(line: string): RawSegment | undefined {
  const [, ...fields] = segmentLine.exec(line) ?? [];
  const text = fields.pop();
  if (text === undefined) return undefined;
  const [h1 = 0, m1 = 0, s1 = 0, ms1 = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = fields.map(Number);
  return { from: toMs(h1, m1, s1) + ms1, to: toMs(h2, m2, s2) + ms2, text };
}

function toMs(hours: number, minutes: number, seconds: number): number {
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

interface Offsets {
  readonly from: number;
  readonly to: number;
}

interface Token {
  /** Each character is one byte of UTF-8: whisper may cut a character between tokens. */
  readonly text: string;
  /** Times in milliseconds; absent for tokens without a time. */
  readonly offsets?: Offsets;
}

/**
 * Whisper's codes of the languages without spaces between words, in which each token is a word, as in openai/whisper.
 */
const unspacedLanguages = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);

/** `language` is whisper's code. */
export const isSpaced = (language: string | undefined): boolean => !unspacedLanguages.has(language ?? '');

/**
 * Special tokens such as `[_BEG_]` and `[_TT_175]`. whisper-cli also appends one to a character whose last bytes are
 * missing.
 */
const specialToken = /\[_[^\]]*\]/g;

/** Returns the words of a segment, in order and within its times. `language` is whisper's code. */
function wordsOf(segment: TimedText, tokens: readonly Token[], language: string | undefined): TimedText[] {
  const plain = tokens.map((token) => ({ ...token, text: token.text.replace(specialToken, '') }));
  const words = joinTokens(removeNotes(plain), isSpaced(language));
  return locateWords(words, segment);
}

/** Removes the annotations for silence, which may extend over several tokens. */
function removeNotes(tokens: readonly Token[]): readonly Token[] {
  const whole = tokens.map(({ text }) => text).join('');
  const kept = whole.replace(notes, (note) => '\0'.repeat(note.length));
  let at = 0;
  return tokens.map((token) => {
    const start = at;
    at += token.text.length;
    return { ...token, text: kept.slice(start, at).replaceAll('\0', '') };
  });
}

interface Word {
  bytes: string;
  /** Undefined if the token has no time. */
  readonly from: number | undefined;
  to: number | undefined;
}

function joinTokens(tokens: readonly Token[], isSpaced: boolean): readonly Word[] {
  const words: Word[] = [];
  for (const { text, offsets } of tokens) {
    if (text === '') continue;
    const last = words.at(-1);
    if (last === undefined || text.startsWith(' ') || (!isSpaced && !isCut(last.bytes))) {
      words.push({ bytes: text, from: offsets?.from, to: offsets?.to });
    } else {
      last.bytes += text;
      last.to = offsets?.to ?? last.to;
    }
  }
  return words;
}

/** True if bytes of the last character are missing. */
function isCut(bytes: string): boolean {
  const [character = ''] = /[\xc0-\xff][\x80-\xbf]*$/.exec(bytes) ?? [];
  const lead = character.charCodeAt(0);
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return character !== '' && character.length < length;
}

function locateWords(words: readonly Word[], { startMs, endMs }: TimedText): TimedText[] {
  const spoken = words.flatMap(({ bytes, ...times }) => {
    const text = tidy(decodeBytes(bytes));
    return text === '' ? [] : [{ ...times, text }];
  });
  return placeTimes(spoken, startMs, endMs);
}

/** The inverse of reading UTF-8 as Latin-1; incomplete characters become U+FFFD. */
export function decodeBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
