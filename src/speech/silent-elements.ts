/** Removes what is never spoken: reasoning, comments, scripts and styles. Pure, in linear time. */
import { createFinder } from './finder.ts';

const thinking = /^\s*<(think(?:ing)?|reason(?:ing)?|thought)>/i;
const silent = / ?(?<!`)(?:<!--|<(details|script|style)(?:\s[^<>]*)?>)/gi;

/**
 * Reasoning is at the beginning of a text, as chat models write it, or in the `<details>` with a type that Open WebUI makes
 * of it. Reasoning without an end lasts to the end of the text, since apps send texts in pieces.
 */
export function withoutSilentElements(text: string): string {
  const answer = withoutThinking(text);
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

function withoutThinking(text: string): string {
  let rest = text;
  for (let found = thinking.exec(rest); found; found = thinking.exec(rest)) {
    const closing = `</${found[1] ?? ''}>`;
    const end = rest.indexOf(closing);
    rest = end < 0 ? '' : rest.slice(end + closing.length).trimStart();
  }
  return rest;
}
