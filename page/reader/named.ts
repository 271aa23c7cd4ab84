/** A transcript as it is copied, saved and asked about: with the names of its speakers. Pure. */
import { toLines } from '../../lib/subtitles.ts';
import type { TimedText } from '../../src/client/index.ts';
import { textOfSegments, type TimedTranscript } from './timed-transcript.ts';

/** Returns the names by label. A speaker without a name has the label. */
export const namesOf = ({ speakers = [] }: TimedTranscript): ReadonlyMap<string, string> =>
  new Map(speakers.map(({ speaker, name = speaker }) => [speaker, name]));

/** Returns the transcript with names instead of labels, and with a text of one line for each turn. */
export function named(transcript: TimedTranscript): TimedTranscript {
  if (!transcript.turns) return transcript;
  const names = namesOf(transcript);
  const rename = <Part extends TimedText>(part: Part): Part => {
    const { speaker } = part;
    return speaker === undefined ? part : { ...part, speaker: names.get(speaker) ?? speaker };
  };
  const turns = transcript.turns.map(rename);
  return { ...transcript, turns, segments: transcript.segments.map(rename), text: toLines(turns).trimEnd() };
}

/**
 * Returns the first segments or turns, in at most `limit` characters. `untilMs`: the end of them, unless all of them fit.
 */
export function shortened(
  { segments, turns, text }: TimedTranscript,
  limit: number,
): { readonly text: string; readonly untilMs?: number } {
  if (text.length <= limit) return { text };
  const parts = turns?.map((turn) => ({ ...turn, text: toLines([turn]) })) ?? segments;
  let [length, count] = [0, 0];
  for (const part of parts) {
    length += part.text.length + 1;
    if (length > limit) break;
    count += 1;
  }
  const first = parts.slice(0, count);
  const untilMs = first.at(-1)?.end_ms;
  if (untilMs === undefined) return { text: text.slice(0, limit), untilMs: parts[0]?.start_ms ?? 0 };
  return { text: turns ? toLines(turns.slice(0, count)).trimEnd() : textOfSegments(first), untilMs };
}
