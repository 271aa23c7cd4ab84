/** Removes tool calls that models write as text, together with their results. Pure, in linear time. */
import { createFinder } from './finder.ts';

const name = String.raw`(?:[a-z][\w-]{0,30}:)?(?:tool|function)_?(?:calls?|use|code|responses?|results?|outputs?)`;
const opening = new RegExp(
  [
    `<(${name}|invoke|function(?==))(?:[\\s=][^<>]{0,200})?>`,
    String.raw`<[|｜]tool[_▁](?:calls?|outputs?)(?:[_▁]section)?(?:[_▁]begin)?[|｜]>`,
    String.raw`<\|python_tag\|>|\[TOOL_CALLS\]`, // the call extends to the end of the text
  ].join('|'),
  'gi',
);

/** Whether the text after a mark shows that the mark is only mentioned and is not a call. */
const isProse = (after: string): boolean => /^(?:\s+\p{L}|[.,;:!?`'")])/u.test(after);

/**
 * Takes the lines of a text outside of code, and returns the rest of each line. An unclosed call extends to the end of
 * the text, because apps send texts in pieces.
 */
export function createToolCalls(): (line: string) => string {
  let closing: string | undefined;

  return (line) => {
    if (closing === undefined && !/tool|function|invoke|python/i.test(line)) return line;
    const find = createFinder(line);
    let [spoken, at] = ['', 0];
    while (at <= line.length) {
      if (closing !== undefined) {
        const end = closing === '' ? undefined : find(closing, at);
        if (end === undefined) return spoken;
        at = end + closing.length;
        closing = undefined;
      }
      opening.lastIndex = at;
      const found = opening.exec(line);
      if (!found) break;
      const after = found.index + found[0].length;
      const close = closingOf(found[0], found[1]);
      const isCall =
        line[found.index - 1] !== '`' &&
        ((close !== '' && find(close, after) !== undefined) || !isProse(line.slice(after, after + 32)));
      spoken += line.slice(at, isCall ? found.index : after);
      at = after;
      if (isCall) closing = close;
    }
    return spoken + line.slice(at);
  };
}

/** Returns the closing mark; "" for a mark that has none. */
function closingOf(mark: string, name: string | undefined): string {
  if (name !== undefined) return `</${name}>`;
  if (/python|^\[/.test(mark)) return '';
  return mark.includes('begin') ? mark.replace('begin', 'end') : mark.replace('<|', '<|/');
}
