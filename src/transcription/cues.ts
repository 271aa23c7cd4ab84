/** Builds subtitle cues of readable length from word timestamps. */
import type { TimedText, Transcript } from '../../engines/contract/index.ts';
import { joinTexts } from '../../lib/join-texts.ts';
import { spacesBefore } from './spaces.ts';

export interface CueShape {
  /** Maximum number of characters per line. A longer word gets its own line. */
  readonly width: number;
  /** Maximum number of lines per cue. */
  readonly lines: number;
}

export interface Cue extends TimedText {
  /** The lines of `text`. */
  readonly lines: readonly string[];
}

/** A cue ends at a pause of `pauseMs` between two words, and lasts at most `maxMs`. */
const [pauseMs, maxMs] = [1_000, 7_000];

export function toCues({ text, words = [] }: Transcript, { width, lines: maxLines }: CueShape): Cue[] {
  const spaces = spacesBefore(words, text);
  const cues: (Omit<Cue, 'text' | 'lines'> & { endMs: number; lines: string[] })[] = [];
  for (const [index, { startMs, endMs, text: word }] of words.entries()) {
    const cue = cues.at(-1);
    const line = cue?.lines.at(-1);
    const isNear = cue !== undefined && startMs - cue.endMs < pauseMs && endMs - cue.startMs <= maxMs;
    const longer = `${line ?? ''}${spaces[index] ?? ''}${word}`;
    if (isNear && Array.from(longer).length <= width) cue.lines.splice(-1, 1, longer);
    else if (isNear && cue.lines.length < maxLines) cue.lines.push(word);
    else cues.push({ startMs, endMs, lines: [word] });
    const last = cues.at(-1);
    if (last) last.endMs = endMs;
  }
  return cues.map((cue) => ({ ...cue, text: joinTexts(cue.lines) }));
}
