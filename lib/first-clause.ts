/** Ends the first piece of an answer after a clause, so that it is spoken earlier. Pure. */
import { isInMark, sentenceEnds } from './spoken-markdown.ts';

/**
 * A comma, colon or semicolon between words. None is within a number, a time or an address, and none precedes what
 * could begin a list.
 */
const clauseEnd = /(?:[,;:،؛፣፤፥၊][^\S\n]+|[、，：；])(?=[\p{L}"“„«*])/gu;
/** Minimum length of a clause in UTF-16 units; in Chinese and Japanese, which need fewer characters. */
const clauseLength = { usual: 18, cjk: 6 };

/** Yields the ends of sentences. In the first piece, the first clause is a sentence, if it is long enough. */
export function* clauseOrSentenceEnds(text: string, index: number): Generator<number> {
  if (index === 0) yield* firstClauseEnd(text);
  yield* sentenceEnds(text);
}

function* firstClauseEnd(text: string): Generator<number> {
  const [sentence = text.length] = sentenceEnds(text);
  for (const { 0: mark, index } of text.slice(0, sentence).matchAll(clauseEnd)) {
    const end = index + mark.length;
    if (index < (mark.length === 1 ? clauseLength.cjk : clauseLength.usual) || isInMark(text.slice(0, end))) continue;
    yield end;
    return;
  }
}
