/** Joins tokens into words, and words into segments. */
import { isSentenceEnd } from '../../lib/sentences.ts';
import type { TimedText } from '../contract/index.ts';
import { separatorOf } from '../../lib/join-texts.ts';
import type { RecognizedPiece } from './host.ts';

export interface Word extends TimedText {
  /** Start of the last token of the word. */
  readonly lastMs: number;
  /** True if a space separates it from the word before, in languages with spaces. */
  readonly isSpaced: boolean;
}

/** A segment ends if the next word begins this long after the last token of the current word has begun. */
const pauseMs = 1_000;

/** Number of words (characters, in languages without spaces) that decide whether a period ends a sentence. */
const lookBack = 8;

/** Characters of languages without spaces: each is a word, even between words that are marked. */
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A word ends where the token after it begins; the last word ends with the piece. */
export function wordsOf({ endMs, tokens, starts }: TimedTokens, marksWords: boolean): Word[] {
  const words: { -readonly [K in keyof Word]: Word[K] }[] = [];
  let isInWord = false;
  for (const [index, token] of tokens.entries()) {
    const startMs = Math.min(starts[index] ?? endMs, endMs);
    const last = words.at(-1);
    const text = token.replaceAll('▁', ' ').trim();
    const isMarked = /^[▁\s]/.test(token);
    const isUnspaced = !marksWords || (!isMarked && unspaced.test(text));
    if (isMarked || isUnspaced) {
      if (isInWord && last) last.endMs = startMs;
      isInWord = false;
    }
    if (text === '') continue;
    if (isInWord && last) Object.assign(last, { text: last.text + text, lastMs: startMs });
    else words.push({ text, startMs, lastMs: startMs, endMs, isSpaced: !isUnspaced });
    isInWord = true;
  }
  return words;
}

type TimedTokens = Pick<RecognizedPiece, 'endMs' | 'tokens' | 'starts'>;

/** Segments end with sentences and before pauses. */
export function segmentsOf(words: readonly Word[]): Word[] {
  const groups: Word[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const isNext =
      group &&
      last &&
      word.startMs - last.lastMs < pauseMs &&
      !isSentenceEnd(textOf(group.slice(-lookBack)), word.text);
    if (isNext) group.push(word);
    else groups.push([word]);
  }
  return groups.flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    return first && last ? { ...last, startMs: first.startMs, isSpaced: first.isSpaced, text: textOf(group) } : [];
  });
}

export function textOf(words: readonly Pick<Word, 'text' | 'isSpaced'>[]): string {
  return words
    .map(({ text, isSpaced }, at) => (isSpaced ? separatorOf(words[at - 1]?.text ?? '', text) : '') + text)
    .join('');
}
