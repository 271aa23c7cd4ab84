/** Adds the speakers to a transcript. */
import type { SpeakerTurn, Span, Transcript } from '../../../engines/contract/index.ts';
import type { Speakers } from './find.ts';
import { speakersOf } from './assign.ts';
import { passagesOf, turnsOf, unitsOf, type SpokenText, type SpokenTranscript } from './spoken.ts';

/** A transcript with speakers. Its segments end where the speaker changes. */
export interface LabeledTranscript extends SpokenTranscript {
  readonly segments: readonly SpokenText[];
  readonly turns: readonly SpeakerTurn[];
}

/** Returns the transcript with speakers. `spans` must be in order. Speakers without a name get a letter. */
export function labeled(
  transcript: Transcript,
  { spans, names = new Map() }: Pick<Speakers, 'spans'> & Partial<Speakers>,
): LabeledTranscript {
  const units = unitsOf(transcript);
  const indexes = speakersOf(units, spans);
  const labels = labelsOf(indexes, names);
  const speakerOf = (unit: number) => labels.get(indexes[unit] ?? 0) ?? 'A';
  const passages = passagesOf(transcript, units, (unit) => indexes[unit] !== indexes[unit - 1]);
  const segments = passages.map(({ first, ...passage }) => ({ ...passage, speaker: speakerOf(first) }));
  const words = transcript.words?.map((word, index) => ({ ...word, speaker: speakerOf(index) }));
  const spoken = spans.map(({ speaker, ...span }) => ({ ...span, speaker: labels.get(speaker) ?? '' }));
  return { ...transcript, segments, ...(words && { words }), turns: withSpeech(turnsOf(segments), spoken) };
}

/** Returns names, or letters in the order in which speakers appear. */
function labelsOf(speakers: readonly number[], names: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const taken = new Set(names.values());
  const letters = Iterator.from(allLetters()).filter((letter) => !taken.has(letter));
  return new Map([...new Set(speakers)].map((speaker) => [speaker, names.get(speaker) ?? letters.next().value ?? '']));
}

function* allLetters(): Generator<string> {
  for (let index = 0; ; index += 1) yield letterOf(index);
}

/** A to Z, then AA. */
export function letterOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterOf(Math.floor(index / 26) - 1) + last;
}

/**
 * Recognizers report word ends late, so turns begin and end with the speech around their first and last words. Turns do
 * not overlap.
 */
function withSpeech(turns: readonly SpeakerTurn[], spoken: readonly SpokenSpan[]): SpeakerTurn[] {
  const own = Map.groupBy(spoken, ({ speaker }) => speaker);
  const next = new Map<string, number>();
  let before = 0;
  return turns.map((turn, index) => {
    const spans = own.get(turn.speaker) ?? [];
    let at = next.get(turn.speaker) ?? 0;
    while ((spans[at]?.endMs ?? Infinity) <= turn.startMs) at += 1;
    next.set(turn.speaker, at);
    const first = spans[at];
    let last: SpokenSpan | undefined;
    for (; (spans[at]?.startMs ?? Infinity) < turn.endMs; at += 1) last = spans[at];
    const startMs = Math.max(before, last ? (first?.startMs ?? 0) : turn.startMs);
    const endMs = Math.min(turns[index + 1]?.startMs ?? Infinity, last?.endMs ?? turn.endMs);
    before = Math.max(startMs, endMs);
    return { ...turn, startMs, endMs: before };
  });
}

interface SpokenSpan extends Span {
  readonly speaker: string;
}
