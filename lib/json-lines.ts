/** JSON lines: each line is a JSON text, ended by `\n`. `LineSplitter` reads them. */

/**
 * JSON escapes a line break in a string. It does not escape U+2028 and U+2029, so a reader must not split lines there.
 */
export const toJsonLine = (value: object, replacer?: (key: string, value: unknown) => unknown): string =>
  `${JSON.stringify(value, replacer)}\n`;
