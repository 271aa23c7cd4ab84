/** Joins whisper's tokens, which are parts of words, to words. */
import type { TimedText } from '../contract/index.ts';
import { clamp, notes, tidy } from './segments.ts';

export interface Offsets {
  readonly from: number;
  readonly to: number;
}

export interface Token {
  /** Each character is one byte of UTF-8: whisper may cut a character between tokens. */
  readonly text: string;
  /** Milliseconds; absent for tokens without a time. */
  readonly offsets?: Offsets;
}

/** Whisper's codes of the languages without spaces between words: there each token is a word, as in openai/whisper. */
const unspacedLanguages = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);

/** `language` is whisper's code. */
export const isSpaced = (language: string | undefined): boolean => !unspacedLanguages.has(language ?? '');

/** `[_BEG_]`, `[_TT_175]`. whisper-cli also appends one to a character whose last bytes are missing. */
const specialToken = /\[_[^\]]*\]/g;

/** The words of a segment, in order and within its times. `language` is whisper's code. */
export function wordsOf(segment: TimedText, tokens: readonly Token[], language: string | undefined): TimedText[] {
  const plain = tokens.map((token) => ({ ...token, text: token.text.replace(specialToken, '') }));
  const words = joinTokens(removeNotes(plain), isSpaced(language));
  return placeWords(words, segment);
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
  /** Undefined where the token has no time. */
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

/** A missing start is the end of the word before; a missing end is the start of the next one. */
function placeWords(words: readonly Word[], segment: TimedText): TimedText[] {
  let { startMs, startMs: endMs } = segment;
  const placed = words.map(({ bytes, from, to }, index) => {
    startMs = clamp(from ?? endMs, startMs, segment.endMs);
    endMs = clamp(to ?? words[index + 1]?.from ?? segment.endMs, startMs, segment.endMs);
    return { startMs, endMs, text: tidy(decodeBytes(bytes)) };
  });
  return placed.filter(({ text }) => text !== '');
}

/** The inverse of reading UTF-8 as Latin-1; incomplete characters become U+FFFD. */
export function decodeBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
