/** JSON lines: each line is a JSON text, ended by `\n`. `LineSplitter` reads them. */

/** A line break in a string is escaped by JSON. U+2028 and U+2029 are not: a reader must not take them for one. */
export const toJsonLine = (value: object, replacer?: (key: string, value: unknown) => unknown): string =>
  `${JSON.stringify(value, replacer)}\n`;
