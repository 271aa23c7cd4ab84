/** Gives each word the speaker of the speech that covers it. */
import type { SpeakerSpan, TimedText } from '../../../engines/contract/index.ts';

/** Speech this near to a word counts as its own if no other covers it. */
const nearMs = 500;
/** Fewer words, in a shorter time and without a longer speech, are part of the sentence around them. */
const short = { words: 2, ms: 400 } as const;

/** Returns the index of the speaker of each unit; 0 without any speech. `spans` are in order. */
export function speakersOf(units: readonly TimedText[], spans: readonly SpeakerSpan[]): number[] {
  const covering = createSweep(spans);
  const covered = units.map(covering);
  const speakers: number[] = [];
  for (const { overlaps, nearest } of covered) {
    const before = speakers.at(-1);
    const most = Math.max(0, ...Array.from(overlaps.values(), ({ ms }) => ms));
    const best = [...overlaps].filter(([, { ms }]) => ms === most).map(([speaker]) => speaker);
    const isOwn = best.length === 0 && nearest !== undefined && (nearest.gapMs <= nearMs || before === undefined);
    if (before !== undefined && best.includes(before)) speakers.push(before);
    else speakers.push(best[0] ?? (isOwn ? nearest.speaker : (before ?? 0)));
  }
  return smoothed(speakers, units, covered);
}

interface Covered {
  /** By speaker, in the order in which their spans begin: the common time, and the length of the longest span. */
  readonly overlaps: ReadonlyMap<number, { readonly ms: number; readonly longestMs: number }>;
  readonly nearest: { readonly speaker: number; readonly gapMs: number } | undefined;
}

/** Returns a function for units in the order of their starts, which looks only at the spans around the unit. */
function createSweep(spans: readonly SpeakerSpan[]): (unit: TimedText) => Covered {
  let next = 0;
  let open: SpeakerSpan[] = [];
  /** The span that has ended last. */
  let last: SpeakerSpan | undefined;
  return ({ startMs, endMs }) => {
    for (let span = spans[next]; span && span.startMs < endMs; span = spans[next]) {
      open.push(span);
      next += 1;
    }
    for (const span of open) if (span.endMs <= startMs && span.endMs >= (last?.endMs ?? 0)) last = span;
    open = open.filter((span) => span.endMs > startMs);
    const overlaps = new Map<number, { ms: number; longestMs: number }>();
    for (const span of open) {
      const common = Math.min(endMs, span.endMs) - Math.max(startMs, span.startMs);
      const { ms = 0, longestMs = 0 } = overlaps.get(span.speaker) ?? {};
      const longest = Math.max(longestMs, span.endMs - span.startMs);
      if (common > 0) overlaps.set(span.speaker, { ms: ms + common, longestMs: longest });
    }
    const [gapBefore, gapAfter] = [startMs - (last?.endMs ?? -Infinity), (spans[next]?.startMs ?? Infinity) - endMs];
    const speaker = (gapBefore <= gapAfter ? last : spans[next])?.speaker;
    return { overlaps, nearest: speaker === undefined ? undefined : { speaker, gapMs: Math.min(gapBefore, gapAfter) } };
  };
}

/** A short "yes" of another speaker within a sentence keeps the sentence whole. */
function smoothed(speakers: readonly number[], units: readonly TimedText[], covered: readonly Covered[]): number[] {
  const result = [...speakers];
  for (let first = 0, end = 0; first < result.length; first = end) {
    const speaker = result[first] ?? 0;
    while (end < result.length && result[end] === speaker) end += 1;
    const [before, after] = [result[first - 1], result[end]];
    const ms = (units[end - 1]?.endMs ?? 0) - (units[first]?.startMs ?? 0);
    const isShort = end - first <= short.words && ms < short.ms;
    const hasSpeech = covered
      .slice(first, end)
      .some(({ overlaps }) => (overlaps.get(speaker)?.longestMs ?? 0) >= short.ms);
    if (isShort && !hasSpeech && before !== undefined && before === after) result.fill(before, first, end);
  }
  return result;
}
