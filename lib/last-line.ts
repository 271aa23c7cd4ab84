import { shorten } from './truncate.ts';

const longest = 200;

/**
 * What a log may have of a program's output: its last line. Programs print source lines, and what they were given, before it.
 * A line with JSON may be a question or an answer: it is left out.
 */
export function lastLine(output: string): string {
  const line = output.trimEnd().split(/[\r\n]/).at(-1)?.trim() ?? ''; // prettier-ignore
  return /[{[]\s*["{[]/.test(line) ? '[a line with JSON]' : shorten(line, longest);
}
