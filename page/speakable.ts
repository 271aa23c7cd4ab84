/**
 * Turns growing Markdown into the text that is read aloud: its words, without code, tables, images and addresses. The
 * service removes other markup, such as HTML and emoji. Pure.
 */
import * as smd from 'streaming-markdown';
import { createPieces, type Piece } from '../lib/spoken-pieces.ts';
import { Feed } from './feed.ts';

const silent: ReadonlySet<smd.Token> = new Set([smd.CODE_BLOCK, smd.CODE_FENCE, smd.TABLE, smd.IMAGE, smd.RAW_URL]);

/** Voices pause at an empty line. The service turns math between these delimiters into words. */
const before: ReadonlyMap<smd.Token, string> = new Map([
  [smd.LIST_ORDERED, '\n\n'],
  [smd.LIST_UNORDERED, '\n\n'],
  [smd.EQUATION_BLOCK, '\\('],
  [smd.EQUATION_INLINE, '\\('],
]);
const after: ReadonlyMap<smd.Token, string> = new Map([
  [smd.PARAGRAPH, '\n\n'],
  [smd.HEADING_1, '\n\n'],
  [smd.HEADING_2, '\n\n'],
  [smd.HEADING_3, '\n\n'],
  [smd.HEADING_4, '\n\n'],
  [smd.HEADING_5, '\n\n'],
  [smd.HEADING_6, '\n\n'],
  [smd.LIST_ITEM, '\n\n'],
  [smd.LINE_BREAK, '\n\n'],
  [smd.EQUATION_BLOCK, '\\)'],
  [smd.EQUATION_INLINE, '\\)'],
]);

/**
 * The first sentence is heard as soon as it is complete. Each further piece is long enough for the next one to come in time,
 * and for a text of 3,000 characters to have at most 16.
 */
const lengths = { longest: 600, shortest: [0, 24, 48, 96, 192, 250] } as const;

/** A piece of only emoji or signs is silent. */
const wordsOf = (pieces: readonly Piece[]) =>
  pieces.map(({ text }) => text).filter((text) => /[\p{L}\p{N}]/u.test(text));

/** `write` returns the pieces that are complete. `flush` returns the rest; another text may follow. */
export function createSpokenPieces() {
  const pieces = createPieces(lengths);
  let speakable = createSpeakable();
  return {
    write: (markdown: string) => wordsOf(pieces.push(speakable.write(markdown))),
    flush() {
      const rest = speakable.end();
      speakable = createSpeakable();
      return wordsOf(pieces.end(rest));
    },
  };
}

/** In UTF-16 units: a bracket that is not closed must not delay the speech. */
const longestLink = 500;

const isMath = (token?: smd.Token) => token === smd.EQUATION_BLOCK || token === smd.EQUATION_INLINE;

/** `write` returns the words that are complete, `end` returns the rest. */
function createSpeakable() {
  const open: smd.Token[] = [];
  /** Numbers of the next items, by open list. */
  const numbers: number[] = [];
  let silence = 0;
  let said = '';
  /** An open link, whose address comes after its text. */
  let link: { text: string; hasAddress: boolean } | undefined;

  function say(words = ''): void {
    if (silence > 0) return;
    if (link) link.text += words;
    else said += words;
  }

  /** Brackets without an address are text. The service knows which of them are citations, and silences these. */
  function endLink(): void {
    const { text = '', hasAddress } = link ?? {};
    link = undefined;
    if (/^!\w+$/.test(text)) return; // an alert
    say(hasAddress === true && !/^\d{1,3}$/.test(text) ? text : `[${text}]`);
  }

  function take(): string {
    const words = said;
    said = '';
    return words;
  }

  function numberOf(list: number): string {
    const number = numbers[list] ?? 1;
    numbers[list] = number + 1;
    return `${number}. `;
  }

  const feed = new Feed({
    data: undefined,
    add_token(_data, token) {
      say(before.get(token));
      if (silent.has(token)) silence += 1;
      if (token === smd.LINK) link ??= { text: '', hasAddress: false };
      if (token === smd.LIST_ORDERED) numbers.push(1);
      if (token === smd.LIST_ITEM && open.at(-1) === smd.LIST_ORDERED) say(numberOf(numbers.length - 1));
      open.push(token);
    },
    end_token() {
      const token = open.pop() ?? smd.DOCUMENT;
      if (silent.has(token)) silence -= 1;
      if (token === smd.LINK && link) endLink();
      if (token === smd.LIST_ORDERED) numbers.pop();
      say(after.get(token));
    },
    add_text(_data, text) {
      say(isMath(open.at(-1)) ? text.replaceAll('\n', ' ') : text);
      if (link && link.text.length > longestLink) endLink();
    },
    set_attr(_data, attribute, value) {
      if (link && attribute === smd.HREF) link.hasAddress = true;
      if (attribute === smd.START) numbers[numbers.length - 1] = Number(value);
    },
  });

  return {
    write(markdown: string): string {
      feed.write(markdown);
      return take();
    },
    end(): string {
      feed.end();
      if (link) endLink();
      return take();
    },
  };
}
