/**
 * Bounds what a text may cost the tab. Browsers lay out nested elements by recursion (3,000 quotes crash it), and
 * tables in time that grows with the square of their columns. Content beyond a bound is shown as plain text. Pure.
 */
import * as smd from 'streaming-markdown';

/** Maximum number of open elements, cells of a row, elements of a text, and characters of an address. */
export const bounds = { depth: 24, columns: 100, elements: 5_000, address: 2_000 } as const;

/** Blocks of text. */
const textBlocks = [
  smd.PARAGRAPH,
  smd.HEADING_1,
  smd.HEADING_2,
  smd.HEADING_3,
  smd.HEADING_4,
  smd.HEADING_5,
  smd.HEADING_6,
  smd.LIST_ITEM,
  smd.TABLE_ROW,
  smd.LINE_BREAK,
] as const;

/** Elements that begin a line. */
const blocks: ReadonlySet<smd.Token> = new Set([...textBlocks, smd.CODE_BLOCK, smd.CODE_FENCE, smd.EQUATION_BLOCK]);

export interface BoundedRenderer extends smd.Any_Renderer {
  /** Adds the collected text: many small text nodes would be slow. */
  flush(): void;
}

export function boundedRenderer<T>({ data, ...to }: smd.Renderer<T>): BoundedRenderer {
  let shown = 0;
  let hidden = 0;
  let elements = 0;
  let columns = 0;
  let text = '';
  let isAfterText = false;
  let gap = '';

  function mayShow(token: smd.Token): boolean {
    if (token === smd.TABLE_ROW) columns = 0;
    if (token === smd.TABLE_CELL) columns += 1;
    return hidden === 0 && shown < bounds.depth && elements < bounds.elements && columns <= bounds.columns;
  }

  function flush(): void {
    if (text !== '') to.add_text(data, text);
    text = '';
  }

  return {
    data,
    flush,
    add_token(_data, token) {
      if (!mayShow(token)) {
        hidden += 1;
        if (blocks.has(token)) gap = '\n';
        else if (token === smd.TABLE_CELL) gap ||= ' ';
        return;
      }
      flush();
      shown += 1;
      elements += 1;
      isAfterText = false;
      to.add_token(data, token);
    },
    end_token() {
      if (hidden > 0) {
        hidden -= 1;
        return;
      }
      flush();
      shown -= 1;
      isAfterText = false;
      to.end_token(data);
    },
    add_text(_data, more) {
      if (isAfterText) text += gap === '\n' && elements >= bounds.elements ? ' ' : gap;
      if (gap === '\n') elements += 1;
      gap = '';
      isAfterText = true;
      text += more;
    },
    set_attr(_data, attribute, value) {
      if (hidden === 0 && value.length <= bounds.address) to.set_attr(data, attribute, value);
    },
  };
}
