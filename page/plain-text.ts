/** Returns the text of Markdown without its marks, for users who listen to it. Pure. */
import * as smd from 'streaming-markdown';
import { Feed } from './feed.ts';

const inline: ReadonlySet<number> = new Set([
  ...[smd.ITALIC_AST, smd.ITALIC_UND, smd.STRONG_AST, smd.STRONG_UND, smd.STRIKE, smd.CODE_INLINE, smd.RAW_URL],
  ...[smd.LINK, smd.EQUATION_INLINE],
]);

export function plainTextOf(markdown: string): string {
  let text = '';
  const feed = new Feed({
    data: undefined,
    add_token: (_data, token) => {
      if (!inline.has(token)) text += '\n';
    },
    end_token: () => undefined,
    add_text: (_data, more) => (text += more),
    set_attr: () => undefined,
  });
  feed.write(markdown);
  feed.end();
  return text.replaceAll(/\s*\n\s*/g, '\n').trim();
}
