/** Transcripts whose parts have speakers. */
import type { SpeakerTurn, TimedText, TimestampKind, Transcript } from '../../../engines/contract/index.ts';
import { joinTexts } from '../../../lib/join-texts.ts';

/** A part of a transcript, with its speaker if it is known. */
export interface SpokenText extends TimedText {
  readonly speaker?: string;
}

export interface SpokenTranscript extends Transcript {
  readonly segments?: readonly SpokenText[];
  readonly words?: readonly SpokenText[];
}

/** Returns the transcript with only the requested timestamps. */
export function withRequestedTimes(
  { segments, words, ...transcript }: SpokenTranscript,
  kinds: readonly TimestampKind[] = [],
): SpokenTranscript {
  return {
    ...transcript,
    ...(kinds.includes('segment') && segments && { segments }),
    ...(kinds.includes('word') && words && { words }),
  };
}

/** A turn ends at a pause longer than `pauseMs`, or at the end of a segment once it has lasted `maxTurnMs`. */
const [pauseMs, maxTurnMs] = [2_000, 30_000];

/** Joins consecutive segments of the same speaker. */
export function turnsOf(segments: readonly SpokenText[]): SpeakerTurn[] {
  const turns: { startMs: number; endMs: number; speaker: string; texts: string[] }[] = [];
  for (const { startMs, endMs, text, speaker = '' } of segments) {
    const last = turns.at(-1);
    const isSame =
      last?.speaker === speaker && startMs - last.endMs <= pauseMs && last.endMs - last.startMs < maxTurnMs;
    if (isSame) {
      last.texts.push(text);
      last.endMs = Math.max(last.endMs, endMs);
    } else turns.push({ startMs, endMs, speaker, texts: [text] });
  }
  return turns.map(({ texts, ...turn }) => ({ ...turn, text: joinTexts(texts) }));
}

/** Recognizers stretch a word over the silence after it. A word longer than `longest` is assumed to last `usual`. */
const wordMs = { longest: 1_000, usual: 600 } as const;

/** Returns the words without the silence after them; if the model returns no words, the segments. */
export function unitsOf({ words = [], segments = [] }: Transcript): readonly TimedText[] {
  if (words.length === 0) return segments;
  return words.map((word) =>
    word.endMs - word.startMs > wordMs.longest ? { ...word, endMs: word.startMs + wordMs.usual } : word,
  );
}

/** A part of a transcript that consists of units. */
export interface Passage extends TimedText {
  /** Index of the first unit. */
  readonly first: number;
}

/**
 * Cuts a transcript before the units for which `isStart` is true, and where its segments begin. The text of a passage
 * includes the punctuation of the transcript, which may be missing from the words.
 */
export function passagesOf(
  { text, segments = [] }: Pick<Transcript, 'text' | 'segments'>,
  units: readonly TimedText[],
  isStart: (unit: number) => boolean,
): Passage[] {
  const begins = firstUnits(units, segments);
  const firsts = [...units.keys()].filter((unit) => unit === 0 || isStart(unit) || begins.has(unit));
  const places = placesOf(units, text);
  return firsts.map((first, index) => {
    const end = firsts[index + 1] ?? units.length;
    const own = units.slice(first, end);
    const part = places && text.slice(first === 0 ? 0 : places[first], places[end]);
    return {
      first,
      startMs: own[0]?.startMs ?? 0,
      endMs: own.reduce((most, { endMs }) => Math.max(most, endMs), 0),
      text: part?.trim() ?? joinTexts(own.map((unit) => unit.text)),
    };
  });
}

/** Returns the indexes of the units with which segments begin. */
function firstUnits(units: readonly TimedText[], segments: readonly TimedText[]): ReadonlySet<number> {
  const found = new Set<number>();
  let unit = 0;
  for (const { startMs } of segments) {
    while (unit < units.length && (units[unit]?.startMs ?? 0) < startMs) unit += 1;
    found.add(unit);
  }
  return found;
}

/** Providers omit punctuation from words, so the next word may begin up to this many characters after the last one. */
const reach = 32;

/**
 * Returns where each unit begins in the text, including the punctuation before it; undefined if a unit is missing from
 * the text.
 */
function placesOf(units: readonly TimedText[], text: string): readonly number[] | undefined {
  const places: number[] = [];
  let at = 0;
  for (const { text: word } of units) {
    const found = text.slice(at, at + word.length + reach).indexOf(word);
    if (found < 0) return undefined;
    const between = text.slice(at, at + found);
    places.push(at + (between.search(/\s\S*$/) + 1));
    at += found + word.length;
  }
  return places;
}
