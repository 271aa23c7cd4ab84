/** Removes elements that are never spoken: reasoning, comments, scripts and styles. Pure, in linear time. */
import { withoutThoughts } from '../../lib/thoughts.ts';
import { createFinder } from './finder.ts';

const silent = / ?(?<!`)(?:<!--|<(details|script|style)(?:\s[^<>]*)?>)/gi;

/**
 * Recognizes reasoning as chat models write it (lib/thoughts), and as the `<details type=...>` to which Open WebUI
 * converts it. Unclosed reasoning extends to the end of the text, because apps send texts in pieces.
 */
export function withoutSilentElements(text: string): string {
  const answer = withoutThoughts(text);
  const findEnd = createFinder(answer);
  let [spoken, at] = ['', 0];
  for (const { 0: tag, 1: name, index } of answer.matchAll(silent)) {
    const isDetails = /^ ?<details/i.test(tag);
    if (index < at || (isDetails && !/\stype\s*=/i.test(tag))) continue;
    const closing = name === undefined ? '-->' : `</${name}>`;
    const end = findEnd(closing, index + tag.length);
    if (end === undefined && !isDetails) continue;
    spoken += answer.slice(at, index);
    at = end === undefined ? answer.length : end + closing.length;
  }
  return at === 0 ? answer : (spoken + answer.slice(at)).trim();
}
