/**
 * Feeds streaming-markdown, which takes any `_` for the begin of emphasis. In CommonMark one inside of a word is a
 * letter: models write of read_aloud and max_tokens. Pure.
 */
import * as smd from 'streaming-markdown';

/** Where a backslash would be shown. */
const verbatim: ReadonlySet<number> = new Set([
  smd.CODE_BLOCK,
  smd.CODE_FENCE,
  smd.CODE_INLINE,
  smd.EQUATION_BLOCK,
  smd.EQUATION_INLINE,
  smd.RAW_URL,
]);

/** A bare one, or that of a link. */
const address = /^https?:|\]\([^)]*$/i;

export class Feed {
  readonly #parser: smd.Parser;
  /** The word so far, to its last character. */
  #word = '';
  /** Held back until it is known whether the word goes on. */
  #held = '';

  constructor(renderer: smd.Any_Renderer) {
    this.#parser = smd.parser(renderer);
  }

  write(text: string): void {
    for (const piece of text.match(/_+|[^_]+/g) ?? []) {
      if (piece.startsWith('_')) this.#held += piece;
      else this.#add(piece);
    }
  }

  end(): void {
    smd.parser_write(this.#parser, this.#held);
    smd.parser_end(this.#parser);
  }

  #add(piece: string): void {
    const isInside = this.#held !== '' && /[\p{L}\p{N}]$/u.test(this.#word) && /^[\p{L}\p{N}]/u.test(piece);
    const isText = !verbatim.has(this.#parser.token) && !address.test(this.#word);
    const underscores = isInside && isText ? this.#held.replaceAll('_', '\\_') : this.#held;
    smd.parser_write(this.#parser, underscores + piece);
    this.#word = /\S*$/.exec(this.#word + this.#held + piece)?.[0] ?? '';
    this.#held = '';
  }
}
