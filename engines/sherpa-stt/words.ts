/** Joins tokens into words, and words into segments. */
import type { TimedText } from '../contract/index.ts';
import type { RecognizedPiece } from './host.ts';

export interface Word extends TimedText {
  /** Start of the last token of the word. */
  readonly lastMs: number;
}

/** A longer silence between two words ends a segment. */
const pauseMs = 1_000;

const sentenceEnd = /[.!?…。！？]$/;

/** A word ends where the next token begins; the last word ends with the piece. */
export function wordsOf({ endMs, tokens, starts }: RecognizedPiece, marksWords: boolean): Word[] {
  const words: { text: string; startMs: number; lastMs: number; endMs: number }[] = [];
  let isInWord = false;
  for (const [index, token] of tokens.entries()) {
    const startMs = Math.min(starts[index] ?? endMs, endMs);
    const last = words.at(-1);
    if (!marksWords || /^[▁\s]/.test(token)) {
      if (isInWord && last) last.endMs = startMs;
      isInWord = false;
    }
    const text = token.replaceAll('▁', ' ').trim();
    if (text === '') continue;
    if (isInWord && last) Object.assign(last, { text: last.text + text, lastMs: startMs });
    else words.push({ text, startMs, lastMs: startMs, endMs });
    isInWord = true;
  }
  return words;
}

/** Segments end with sentences and before pauses. */
export function segmentsOf(words: readonly Word[], separator: string): TimedText[] {
  const groups: Word[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const isNext = last && !sentenceEnd.test(last.text) && word.startMs - last.lastMs < pauseMs;
    if (group && isNext) group.push(word);
    else groups.push([word]);
  }
  return groups.map((group) => ({
    startMs: group[0]?.startMs ?? 0,
    endMs: group.at(-1)?.endMs ?? 0,
    text: group.map(({ text }) => text).join(separator),
  }));
}
