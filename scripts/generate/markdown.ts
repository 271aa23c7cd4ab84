/** Generates Markdown for pages: tables, and the blocks that contain them. */

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inCell).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

/** A cell must be on one line, and an unescaped `|` would end it. */
function inCell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
}

const end = '<!-- end of generated -->';

/**
 * Replaces the content of the named block, which is enclosed by two comments. The text around it is written by hand. If
 * the page has no such block, the block is appended.
 */
export function withBlock(page: string, name: string, content: string): string {
  const start = `<!-- generated: ${name} (npm run generate) -->`;
  const block = `${start}\n<!-- prettier-ignore-start -->\n\n${content}\n\n<!-- prettier-ignore-end -->\n${end}`;
  const from = page.indexOf(start);
  if (from < 0) return `${page.trimEnd()}\n\n${block}\n`;
  const to = page.indexOf(end, from);
  if (to < 0) throw new Error(`the block "${name}" does not end with ${end}`);
  return page.slice(0, from) + block + page.slice(to + end.length);
}
