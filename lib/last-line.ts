import { shorten } from './truncate.ts';

const longest = 200;

/**
 * Returns the last line of a program's output, for the log. The lines before it may repeat source code or what the program
 * was given. A line with JSON may be a question or an answer and is left out.
 */
export function lastLine(output: string): string {
  const line =
    output
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1)
      ?.trim() ?? '';
  return /[{[]\s*["{[]/.test(line) ? '[a line with JSON]' : shorten(line, longest);
}
