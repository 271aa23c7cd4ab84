/**
 * Renders Markdown that grows. Creates elements while the text arrives, never HTML: the output of the model stays text.
 * Links go to http, https, mailto and places in the page; images are not fetched, since their address could leak a
 * secret.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import * as smd from 'streaming-markdown';
import { copy } from './copy.ts';
import { Feed } from './feed.ts';
import { highlight } from './highlight.ts';

const tags: Readonly<Record<number, string>> = {
  [smd.PARAGRAPH]: 'p',
  [smd.LINE_BREAK]: 'br',
  [smd.RULE]: 'hr',
  // All headings have one level: models begin with any level, and the outline of the page stays consistent.
  [smd.HEADING_1]: 'h3',
  [smd.HEADING_2]: 'h3',
  [smd.HEADING_3]: 'h3',
  [smd.HEADING_4]: 'h3',
  [smd.HEADING_5]: 'h3',
  [smd.HEADING_6]: 'h3',
  [smd.ITALIC_AST]: 'em',
  [smd.ITALIC_UND]: 'em',
  [smd.STRONG_AST]: 'strong',
  [smd.STRONG_UND]: 'strong',
  [smd.STRIKE]: 's',
  [smd.CODE_INLINE]: 'code',
  [smd.CODE_BLOCK]: 'pre',
  [smd.CODE_FENCE]: 'pre',
  [smd.EQUATION_BLOCK]: 'pre',
  [smd.EQUATION_INLINE]: 'code',
  [smd.RAW_URL]: 'a',
  [smd.LINK]: 'a',
  [smd.BLOCKQUOTE]: 'blockquote',
  [smd.LIST_UNORDERED]: 'ul',
  [smd.LIST_ORDERED]: 'ol',
  [smd.LIST_ITEM]: 'li',
  [smd.TABLE]: 'table',
  [smd.TABLE_ROW]: 'tr',
};

const safeLink = /^(https?:|mailto:|#)/i;

function renderInto(root: HTMLElement): smd.Renderer<HTMLElement[]> {
  const top = (open: HTMLElement[]) => open.at(-1) ?? root;
  return {
    data: [root],
    add_token: (open, token) => {
      if (token === smd.DOCUMENT) return;
      const parent = top(open);
      const element = document.createElement(tags[token] ?? (token === smd.TABLE_CELL ? cellOf(parent) : 'span'));
      if (element.tagName === 'PRE' || element.tagName === 'TABLE') element.tabIndex = 0; // they may scroll
      if (token === smd.IMAGE) element.className = 'image';
      if (token === smd.CHECKBOX) element.textContent = '☐ ';
      parent.append(isCode.has(token) ? withCopyButton(element) : element);
      open.push(element);
    },
    end_token: (open) => {
      const element = open.length > 1 ? open.pop() : undefined;
      if (element?.tagName === 'PRE') color(element);
    },
    add_text: (open, text) => {
      const { lastChild } = top(open);
      if (lastChild instanceof Text)
        lastChild.appendData(text); // one long text is faster than many short ones
      else top(open).append(text);
    },
    set_attr: (open, attribute, value) => {
      const element = top(open);
      if (attribute === smd.HREF && element instanceof HTMLAnchorElement) link(element, value);
      if (attribute === smd.CHECKED) element.textContent = '☑ ';
      if (attribute === smd.LANG) nameCode(element, value);
      if (attribute === smd.START && element instanceof HTMLOListElement) element.start = Number(value);
    },
  };
}

const isCode: ReadonlySet<number> = new Set([smd.CODE_BLOCK, smd.CODE_FENCE]);

/** Puts the code below a bar with its language and the button. */
function withCopyButton(code: HTMLElement): HTMLElement {
  const block = document.createElement('div');
  block.className = 'code';
  const bar = document.createElement('div');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  nameCopyButton(button, 'Copy');
  bar.append(document.createElement('span'), button);
  block.append(bar, code);
  return block;
}

function nameCode(code: HTMLElement, language: string): void {
  const place = code.previousElementSibling?.firstElementChild;
  if (place) place.textContent = language.slice(0, 30);
}

/** Called once the code is complete. */
function color(code: HTMLElement): void {
  const pieces = highlight(code.textContent).map(([text, kind]) => {
    if (!kind) return text;
    const piece = document.createElement('span');
    piece.className = kind;
    piece.textContent = text;
    return piece;
  });
  code.replaceChildren(...pieces);
}

function nameCopyButton(button: HTMLButtonElement, shown: 'Copy' | 'Copied'): void {
  button.ariaLabel = `${shown} the code`;
  button.textContent = shown;
}

/** A single listener for all code blocks of a text. */
async function copyCode({ target }: Event): Promise<void> {
  if (!(target instanceof HTMLButtonElement)) return;
  const code = target.parentElement?.nextElementSibling?.textContent ?? '';
  if (!(await copy(code))) return;
  nameCopyButton(target, 'Copied');
  setTimeout(() => nameCopyButton(target, 'Copy'), 2_000);
}

const cellOf = (row: HTMLElement) => (row.parentElement?.firstElementChild === row ? 'th' : 'td');

function link(element: HTMLAnchorElement, address: string): void {
  if (!safeLink.test(address)) return;
  element.href = address;
  if (address.startsWith('#')) return;
  element.target = '_blank';
  element.rel = 'noopener noreferrer';
}

/** `text` may only grow. The parser holds the last characters back until the text is complete. */
export function Markdown({ text, isComplete }: { readonly text: string; readonly isComplete: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const state = useRef<{ readonly feed: Feed; written: number; isEnded: boolean } | null>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    state.current ??= { feed: new Feed(renderInto(place.current)), written: 0, isEnded: false };
    const { feed, written, isEnded } = state.current;
    if (isEnded) return;
    feed.write(text.slice(written));
    state.current.written = text.length;
    if (!isComplete) return;
    feed.end();
    state.current.isEnded = true;
  }, [text, isComplete]);
  return <div class="markdown" ref={place} onClick={(event) => void copyCode(event)} />;
}
