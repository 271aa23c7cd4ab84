/** Assigns each word to the speaker who speaks at that time. */
import type { SpeakerSpan, TimedText } from '../../../engines/contract/index.ts';

/** Speech this close to a word determines its speaker if none overlaps it. */
const nearMs = 500;
/**
 * At most `words` words that together last less than `ms` belong to the sentence around them, unless they are part of
 * longer speech.
 */
const short = { words: 2, ms: 400 } as const;

/** Returns the index of the speaker of each unit; 0 if there is no speech. `spans` must be in order. */
export function speakersOf(units: readonly TimedText[], spans: readonly SpeakerSpan[]): number[] {
  const covering = createSweep(spans);
  const covered = units.map(covering);
  const speakers: number[] = [];
  for (const { overlaps, nearest } of covered) {
    const before = speakers.at(-1);
    const most = Math.max(0, ...Array.from(overlaps.values(), ({ ms }) => ms));
    const best = [...overlaps].filter(([, { ms }]) => ms === most).map(([speaker]) => speaker);
    const isNear = best.length === 0 && nearest !== undefined && (nearest.gapMs <= nearMs || before === undefined);
    if (before !== undefined && best.includes(before)) speakers.push(before);
    else speakers.push(best[0] ?? (isNear ? nearest.speaker : (before ?? 0)));
  }
  return smoothed(speakers, units, covered);
}

interface Covered {
  /** By speaker, in the order in which their spans begin: the overlap, and the length of the longest span. */
  readonly overlaps: ReadonlyMap<number, { readonly ms: number; readonly longestMs: number }>;
  readonly nearest: { readonly speaker: number; readonly gapMs: number } | undefined;
}

/** Returns a function to call with units in order of their starts. It checks only the spans near each unit. */
function createSweep(spans: readonly SpeakerSpan[]): (unit: TimedText) => Covered {
  let next = 0;
  let open: SpeakerSpan[] = [];
  /** The ended span with the latest end. */
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

/** Keeps a sentence whole despite a short "yes" from another speaker. */
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
