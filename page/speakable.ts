/** The words of a Markdown text as they are read aloud: no marks, no code blocks, no addresses. Pure. */
import * as smd from 'streaming-markdown';
import { textBlocks } from './bounded-renderer.ts';
import { Feed } from './feed.ts';

const silent: ReadonlySet<number> = new Set([smd.CODE_BLOCK, smd.CODE_FENCE, smd.IMAGE, smd.RAW_URL]);
const blocks: ReadonlySet<number> = new Set([...textBlocks, smd.TABLE_CELL]);

export function speakable(markdown: string): string {
  const open: number[] = [];
  let words = '';
  const feed = new Feed({
    data: undefined,
    add_token: (_data, token) => {
      open.push(token);
      if (blocks.has(token)) words += '\n';
    },
    end_token: () => void open.pop(),
    add_text: (_data, text) => {
      if (!open.some((token) => silent.has(token))) words += text;
    },
    set_attr: () => {},
  });
  feed.write(markdown);
  feed.end();
  return words
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
