/** What the user heard of a spoken answer. Pure. */
import { isUnspaced } from '../../lib/join-texts.ts';

/** Part of a spoken answer. The texts of all pieces join to the text of the answer. */
export interface SpokenPiece {
  readonly text: string;
  /** Milliseconds of its sound that have been sent. */
  readonly ms: number;
  /** Whether all of its sound has been sent. */
  readonly isWhole: boolean;
}

/** The end of an answer that was not heard to its end. */
export interface Heard {
  readonly ms: number;
  /** Whether the client has set it. Otherwise, it is what the client can have played. */
  readonly isByClient: boolean;
}

/** Returns the end of an answer that is interrupted. An earlier end remains. */
export const interrupt = (heard: Heard | undefined, playedMs: number): Heard =>
  heard ?? { ms: playedMs, isByClient: false };

/**
 * Returns the end of an answer that the client truncates. The first truncation is believed, even if it is after the end
 * that the service assumed. Later ones can only shorten the answer. It is never longer than what was sent.
 */
export function truncate(heard: Heard | undefined, ms: number, sentMs: number): Heard {
  const longest = heard?.isByClient ? Math.min(heard.ms, sentMs) : sentMs;
  return { ms: Math.max(0, Math.min(ms, longest)), isByClient: true };
}

/**
 * Returns the text in the first `ms` milliseconds: whole pieces, then words in proportion to their length. Only what is
 * cut is split into words, because a text of the client, which has no sound, can be very long.
 */
export function heardText(pieces: readonly SpokenPiece[], ms: number): string {
  let text = '';
  let left = ms;
  for (const piece of pieces) {
    if (!piece.isWhole || left < piece.ms) {
      const units = unitsOf(piece.text);
      const wholeMs = piece.isWhole ? piece.ms : Math.max(piece.ms, speedOf(pieces) * weightOfAll(units));
      if (left < wholeMs) return (text + beginningOf(units, left / wholeMs)).trimEnd();
      left -= wholeMs;
    } else left -= piece.ms;
    text += piece.text;
  }
  return text;
}

/** Text that is heard or not heard as a whole: a word, or a character of a script without spaces between words. */
interface Unit {
  readonly text: string;
  /** Length, in the time that an average character of an alphabet takes. */
  readonly weight: number;
}

/**
 * A word takes as long as its letters and three more. In sentences of eSpeak NG, 96 % of all cuts are then off by one word
 * at most.
 */
const wordWeight = 3;
/** A character of a script without spaces is spoken as long as this many letters. */
const unspacedWeight = 5;
/** A word counts if this share of it was played. */
const minShare = 0.75;
/** Typical time per letter of English speech. Used until a whole piece has been sent. */
const usualMsPerWeight = 47;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function unitsOf(text: string): Unit[] {
  return (text.match(/\s*\S+/g) ?? []).flatMap((word): Unit[] =>
    isUnspaced(word)
      ? Array.from(graphemes.segment(word), ({ segment }) => ({ text: segment, weight: unspacedWeight }))
      : [{ text: word, weight: word.trim().length + wordWeight }],
  );
}

const weightOfAll = (units: readonly Unit[]): number => units.reduce((sum, { weight }) => sum + weight, 0);

function speedOf(pieces: readonly SpokenPiece[]): number {
  const whole = pieces.filter(({ isWhole }) => isWhole);
  const weight = weightOfAll(whole.flatMap(({ text }) => unitsOf(text)));
  return weight === 0 ? usualMsPerWeight : whole.reduce((sum, { ms }) => sum + ms, 0) / weight;
}

/** Returns the units that are in this share of the whole. */
function beginningOf(units: readonly Unit[], share: number): string {
  const end = share * weightOfAll(units);
  let text = '';
  let at = 0;
  for (const { text: unit, weight } of units) {
    if (at + minShare * weight > end) break;
    text += unit;
    at += weight;
  }
  return text;
}
