/** Finds the speakers of a whole recording. */
import {
  EngineError,
  type Decoded,
  type FoundSpeakers,
  type Recording,
  type SpeakerFinder,
  type SpeakerSpan,
} from '../../../engines/contract/index.ts';
import { statedMs } from '../../audio/stated-length.ts';
import { inBody, ProblemError } from '../../contract/problems.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import { lengthOf } from '../../../lib/wav.ts';

export interface Search {
  /** Known speakers: names and voice samples. */
  readonly known?: readonly KnownVoice[];
  readonly minSpeakers?: number | undefined;
  readonly maxSpeakers?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with the completed fraction, from 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

/**
 * Returns the finder for a recording that is transcribed in parts. Throws `parameter-not-supported` if the model itself
 * distinguishes speakers, because its labels in different parts are unrelated.
 */
export function requireFinder({ id, finder }: ServedModel<'transcription'>): SpeakerFinder {
  if (finder) return finder;
  const detail = `The model "${id}" tells speakers apart only within one part of a long recording.`;
  const blame = inBody('/diarize', 'must be something that the model supports');
  throw new ProblemError('parameter-not-supported', detail, blame);
}

/** Like `requireFit`, for a file that states its length. */
export async function requireFileFit(
  finder: SpeakerFinder,
  file: Pick<Recording, 'path' | 'container'>,
  signal: AbortSignal,
): Promise<void> {
  requireFit(finder, (await statedMs(file, signal)) ?? 0);
}

/** Throws `recording-too-long`, stating the maximum in hours. */
export function requireFit({ maxMs = 0 }: Pick<SpeakerFinder, 'maxMs'>, durationMs: number): void {
  if (durationMs <= maxMs) return;
  const hours = Math.floor(maxMs / 360_000) / 10;
  const message = `Speakers can be found in recordings of up to ${hours} hours; a larger MEMORY_BUDGET allows longer ones.`;
  throw new EngineError('recording-too-long', message);
}

export interface KnownVoice {
  readonly name: string;
  readonly sound: Decoded;
}

export interface Speakers {
  /** The speech of each speaker, in order. */
  readonly spans: readonly SpeakerSpan[];
  /** The names of the speakers whose voices are known. */
  readonly names: ReadonlyMap<number, string>;
}

/** Cosine distance beyond which two voices differ. Not measured with real voices. */
const nearDistance = 0.5;

/**
 * Finds the speakers of a whole recording. `minSpeakers` and `maxSpeakers` apply after speakers who hardly speak have
 * been removed: as numbers of clusters, they would keep noise and merge people. Only if too few remain, the search is
 * repeated with `minSpeakers` clusters plus one for each removed speaker.
 */
export async function findSpeakers(
  finder: SpeakerFinder,
  sound: Decoded,
  { minSpeakers = 1, maxSpeakers, known = [], signal, onProgress }: Search,
): Promise<Speakers> {
  requireFit(finder, lengthOf(sound));
  const rounds = minSpeakers > 1 ? 2 : 1;
  const optionsOf = (round: number) => ({
    ...{ signal, references: known.map((one) => one.sound) },
    onProgress: (fraction: number) => onProgress?.((round + fraction) / rounds),
  });
  const found = await finder.find(sound, optionsOf(0));
  const first = foldSpeakers(found.spans, maxSpeakers);
  const named = (spans: readonly SpeakerSpan[], { distances }: FoundSpeakers) => ({
    spans,
    names: namesOf(known, distances, new Set(spans.map(({ speaker }) => speaker))),
  });
  if (countOf(first) >= minSpeakers || first.length === 0) return named(first, found);
  const noises = countOf(found.spans) - countOf(first);
  const divided = await finder.find(sound, { ...optionsOf(1), clusters: minSpeakers + noises });
  const second = foldSpeakers(divided.spans, maxSpeakers);
  return countOf(second) > countOf(first) ? named(second, divided) : named(first, found);
}

/** Names the closest pairs first. A speaker has at most one name; no name is given beyond `nearDistance`. */
function namesOf(
  known: readonly KnownVoice[],
  distances: FoundSpeakers['distances'],
  speakers: ReadonlySet<number>,
): ReadonlyMap<number, string> {
  const pairs = known.flatMap(({ name }, index) =>
    [...speakers].map((speaker) => ({ name, speaker, distance: distances[index]?.[speaker] ?? Infinity })),
  );
  const names = new Map<number, string>();
  const given = new Set<string>();
  for (const { name, speaker, distance } of pairs.sort((a, b) => a.distance - b.distance)) {
    if (distance > nearDistance || names.has(speaker) || given.has(name)) continue;
    names.set(speaker, name);
    given.add(name);
  }
  return names;
}

const countOf = (spans: readonly SpeakerSpan[]): number => new Set(spans.map(({ speaker }) => speaker)).size;

/** A speaker whose longest span is shorter is noise or part of another speaker. */
const leastMs = 1_000;
/** A speaker with a smaller share of all speech is, too, unless a span lasts at least `longMs`. */
const [leastShare, longMs] = [0.01, 4_000];

/**
 * Reassigns the speech of speakers who hardly speak, and of those who speak least beyond `maxSpeakers`, to the nearest
 * other speaker. A person with one long question in an hour remains.
 */
export function foldSpeakers(spans: readonly SpeakerSpan[], maxSpeakers = Infinity): SpeakerSpan[] {
  const sorted = spans.toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || a.speaker - b.speaker);
  const facts = new Map<number, { totalMs: number; longestMs: number }>();
  for (const { speaker, startMs, endMs } of sorted) {
    const { totalMs = 0, longestMs = 0 } = facts.get(speaker) ?? {};
    facts.set(speaker, { totalMs: totalMs + endMs - startMs, longestMs: Math.max(longestMs, endMs - startMs) });
  }
  const allMs = Array.from(facts.values(), ({ totalMs }) => totalMs).reduce((sum, ms) => sum + ms, 0);
  const byTime = [...facts].sort(([, a], [, b]) => b.totalMs - a.totalMs);
  const isSpeaker = ([, { totalMs, longestMs }]: (typeof byTime)[number]) =>
    longestMs >= leastMs && (longestMs >= longMs || totalMs >= leastShare * allMs);
  const speaking = byTime.filter(isSpeaker);
  const kept = (speaking.length > 0 ? speaking : byTime.slice(0, 1)).slice(0, maxSpeakers);
  return reassign(sorted, new Set(kept.map(([speaker]) => speaker)));
}

/** Gives all other speech to the nearest kept speaker; in a tie, to the earlier one. */
function reassign(sorted: readonly SpeakerSpan[], kept: ReadonlySet<number>): SpeakerSpan[] {
  const own = sorted.filter(({ speaker }) => kept.has(speaker));
  let next = 0;
  return sorted.map((span) => {
    if (kept.has(span.speaker)) return span;
    while (next < own.length && (own[next]?.startMs ?? 0) < span.startMs) next += 1;
    const [before, after] = [own[next - 1], own[next]];
    const gapBefore = before ? span.startMs - before.endMs : Infinity;
    const gapAfter = after ? after.startMs - span.endMs : Infinity;
    return { ...span, speaker: (gapBefore <= gapAfter ? before : after)?.speaker ?? span.speaker };
  });
}
