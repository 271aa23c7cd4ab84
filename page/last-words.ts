/** Returns the end of a text in one line, beginning with a whole word, without the marks of Markdown. Pure. */
export function lastWords(text: string, most: number): string {
  const end = text.slice(-2 * most); // otherwise, all of a long text would be copied for each word
  const line = end
    .replace(/[*`#|]+|^ *[-+>] /gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= most && end.length === text.length) return line;
  return `… ${line.slice(-most).replace(/^(\S{0,40}\s|[\uDC00-\uDFFF])/, '')}`;
}
