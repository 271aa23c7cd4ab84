/** Places in a transcript: of a moment, of words and of a search. Pure. */
import type { TimedText } from '../../src/client/index.ts';
import type { TimedTranscript } from './timed-transcript.ts';

/** Index of the last part that begins at or before the time; -1 before the first. */
export function indexAt(all: readonly TimedText[], ms: number): number {
  let [from, to] = [0, all.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((all[middle]?.start_ms ?? 0) <= ms) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

export interface PlacedWord {
  readonly startMs: number;
  /** Range in the text of its segment, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

/**
 * The words of a segment that its text contains. A word belongs to the segment that contains its middle, or to that of its
 * speaker: the segments of two speakers may overlap.
 */
export function wordsOf({ segments, words }: TimedTranscript, index: number): readonly PlacedWord[] {
  const segment = segments[index];
  if (!segment) return [];
  const isOther = ({ speaker }: Partial<TimedText>) => words[0]?.speaker !== undefined && speaker !== segment.speaker;
  const endMs = segments.slice(index + 1).find((next) => !isOther(next))?.start_ms ?? Infinity;
  const placed: PlacedWord[] = [];
  let at = 0;
  for (let i = Math.max(0, indexAt(words, segment.start_ms) - 1); i < words.length; i += 1) {
    const { start_ms: startMs = Infinity, end_ms: wordEndMs = 0, text = '', ...spoken } = words[i] ?? {};
    if (startMs >= endMs) break;
    if (isOther(spoken)) continue;
    const middle = (startMs + wordEndMs) / 2;
    const word = text.trim();
    const from = segment.text.indexOf(word, at);
    if (middle < segment.start_ms || middle >= endMs || word === '' || from < 0) continue;
    at = from + word.length;
    placed.push({ startMs, from, to: at });
  }
  return placed;
}

export interface Match {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the places where the text occurs, ignoring case. */
export function matchesOf(segments: readonly TimedText[], query: string): readonly Match[] {
  const wanted = query
    .trim()
    .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replace(/\s+/g, String.raw`\s+`);
  if (wanted === '') return [];
  const pattern = new RegExp(wanted, 'giu');
  return segments.flatMap(({ text }, segment) =>
    Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({ segment, from: index, to: index + found.length })),
  );
}
