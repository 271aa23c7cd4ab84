/** Removes what is never spoken: reasoning, comments, scripts and styles. Pure, in linear time. */
import { withoutThoughts } from '../../lib/thoughts.ts';
import { createFinder } from './finder.ts';

const silent = / ?(?<!`)(?:<!--|<(details|script|style)(?:\s[^<>]*)?>)/gi;

/**
 * Reasoning is where chat models write it (lib/thoughts), or in the `<details>` with a type that Open WebUI makes of it. Reasoning without an end lasts to the end of the text, since apps send texts in pieces.
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
