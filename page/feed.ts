/**
 * Feeds streaming-markdown, which treats any `_` as the beginning of emphasis. In CommonMark, a `_` within a word is
 * literal: models write words such as read_aloud and max_tokens. Takes linear time for any text. Pure.
 */
import * as smd from 'streaming-markdown';
import { boundedRenderer, bounds, type BoundedRenderer } from './bounded-renderer.ts';

/** Tokens in which a backslash would be visible. */
const verbatim: ReadonlySet<number> = new Set([
  smd.CODE_BLOCK,
  smd.CODE_FENCE,
  smd.CODE_INLINE,
  smd.EQUATION_BLOCK,
  smd.EQUATION_INLINE,
  smd.RAW_URL,
]);

/**
 * The parser copies an unfinished mark with each character, and takes time that grows with the square of an
 * indentation.
 */
const maxMark = bounds.address;
const maxIndent = 256;

export class Feed {
  readonly #renderer: BoundedRenderer;
  readonly #parser: smd.Parser;
  #word = newWord;
  /** Held back until it is known whether the word continues. */
  #held = '';

  constructor(renderer: smd.Any_Renderer) {
    this.#renderer = boundedRenderer(renderer);
    this.#parser = smd.parser(this.#renderer);
  }

  write(text: string): void {
    for (const piece of text.match(/_+|[^_]+/g) ?? []) {
      if (piece.startsWith('_')) this.#held += piece;
      else this.#add(piece);
    }
    this.#renderer.flush();
  }

  end(): void {
    this.#parse(this.#held);
    smd.parser_end(this.#parser);
    this.#renderer.flush();
  }

  #add(piece: string): void {
    const isInside = this.#held !== '' && /[\p{L}\p{N}]$/u.test(this.#word.tail) && /^[\p{L}\p{N}]/u.test(piece);
    const isText = !verbatim.has(this.#parser.token) && !isAddress(this.#word);
    const underscores = isInside && isText ? this.#held.replaceAll('_', '\\_') : this.#held;
    this.#parse(underscores + piece);
    this.#word = wordAfter(this.#word, this.#held + piece);
    this.#held = '';
  }

  #parse(text: string): void {
    const parser = this.#parser;
    for (let at = 0; at < text.length; at += maxIndent) {
      smd.parser_write(parser, text.slice(at, at + maxIndent));
      parser.indent_len = Math.min(parser.indent_len, maxIndent);
      if (parser.pending.length <= maxMark) continue;
      const isLink = parser.token === smd.LINK || parser.token === smd.IMAGE;
      smd.parser_write(parser, isLink ? ')' : '\n'); // ends the mark
    }
  }
}

/** The word so far, in constant space: a word may have a million characters. */
interface Word {
  readonly head: string;
  readonly tail: string;
  /** True inside the address of a link. */
  readonly isTarget: boolean;
}

const newWord: Word = { head: '', tail: '', isTarget: false };

const isAddress = ({ head, isTarget }: Word) => isTarget || /^https?:/i.test(head);

function wordAfter(word: Word, text: string): Word {
  const from = startOfLastWord(text);
  const { head, tail, isTarget } = from > 0 ? newWord : word;
  const more = tail + text.slice(from);
  const opened = more.lastIndexOf('](');
  const closed = more.lastIndexOf(')');
  return {
    head: (head + text.slice(from, from + 6)).slice(0, 6),
    tail: more.slice(-2),
    isTarget: opened === closed ? isTarget : opened > closed, // equal if neither occurs
  };
}

/** `/\S*$/` would start a search at every character. */
function startOfLastWord(text: string): number {
  let at = text.length;
  while (at > 0 && /\S/.test(text.charAt(at - 1))) at -= 1;
  return at;
}
