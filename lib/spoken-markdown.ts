/**
 * Cuts growing Markdown into pieces that are read aloud. `src/speech/speakable` converts each piece separately, so no
 * piece splits a Markdown mark or contains code. Pure.
 */
import { closes, fenceOf, type Fence } from './code-fence.ts';
import { endsOfSentences } from './sentence-ends.ts';
import { createPieces, type Piece, type PieceOptions } from './spoken-pieces.ts';

/**
 * The first sentence is spoken as soon as it is complete. Each further piece is long enough that the next one arrives
 * in time, and that 3,000 characters make at most 16 pieces.
 */
const usualLengths = { longest: 600, shortest: [0, 24, 48, 96, 192, 250] } as const;

/**
 * `write` returns the pieces that are complete. `flush` returns the rest; another text may follow. By default, pieces
 * consist of whole sentences.
 */
export function createSpokenPieces(options: SpokenOptions = usualLengths) {
  const pieces = createPieces({ sentenceEnds, ...options });
  let lines = createLines();
  return {
    write: (markdown: string) => wordsOf(pieces.push(lines.write(markdown))),
    flush() {
      const rest = lines.end();
      lines = createLines();
      return wordsOf(pieces.end(rest));
    },
  };
}

type SpokenOptions = Omit<PieceOptions, 'sentenceEnds'> & Partial<Pick<PieceOptions, 'sentenceEnds'>>;

const silent = /!\[[^[\]]*\]\([^()]*\)|https?:\/\/\S+/g;

/** A piece that contains only images, URLs, emoji or symbols is silent, and is dropped. */
const wordsOf = (pieces: readonly Piece[]) =>
  pieces.map(({ text }) => text).filter((text) => /[\p{L}\p{N}]/u.test(text.replace(silent, '')));

/** The beginning of a line that may become a fence. */
const undecided = /^\s*(?:(?:>|[-*+]|\d{1,3}[.)])\s*)*(?:\d{1,3}|`{0,2}|~{0,2})$/;

/** Maximum length in UTF-16 units. A longer line neither begins nor ends a fence. */
const maxHeldLength = 200;

/** Drops code. `write` returns the text that is complete, `end` returns the rest. */
function createLines() {
  let held = '';
  /** Whether a part of the line has been returned. */
  let isBegun = false;
  let fence: Fence | undefined;

  function take(line: string): string {
    if (fence) {
      if (closes(fence, line)) fence = undefined;
      return '';
    }
    if (!isBegun) fence = fenceOf(line);
    isBegun = false;
    return fence ? '\n' : `${line}\n`;
  }

  function takePart(): string {
    if (fence) {
      held = held.slice(0, maxHeldLength);
      return '';
    }
    const mayBeFence = held.length < maxHeldLength && (undecided.test(held) || fenceOf(held) !== undefined);
    if (mayBeFence && !isBegun) return '';
    isBegun = true;
    const part = held;
    held = '';
    return part;
  }

  return {
    write(markdown: string): string {
      const lines = (held + markdown).split('\n');
      held = lines.pop() ?? '';
      return lines.map(take).join('') + takePart();
    },
    end: () => take(held),
  };
}

/** Spans that have both of their marks: code, emphasis, links and brackets. */
const whole = /(`+|\*+|_+|~~)(?![\s*]).+?\1|\[[^[\]]*\](?:\([^()\s]*\)|(?!\())/g;
/** Open code, link, table row, word or emphasis. */
const unfinished = /[`[]|^\s*\||[.!?]$|(?:^|[^\p{L}\p{N}])(?:[*_]|~~)\S/u;

/** Whether the text ends within a mark. All marks but those of math end with their line. */
export function isInMark(text: string): boolean {
  const isIn = (begin: string, end: string) => text.lastIndexOf(begin) > text.lastIndexOf(end);
  if (isIn('\\[', '\\]') || isIn('\\begin{', '\\end{') || text.split('$$').length % 2 === 0) return true;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  return line.trim() !== '' && unfinished.test(line.replace(whole, ''));
}

/** Yields the ends of sentences at which the text may be cut. */
export function* sentenceEnds(text: string): Generator<number> {
  for (const end of endsOfSentences(text, mayBeAbbreviation)) {
    if (end === text.length || !isInMark(text.slice(0, end))) yield end;
  }
}

/**
 * Matches a letter, a word of only consonants, a number of one or two digits, a short word after a letter ("p. ej."),
 * and words that precede names and nouns. The list of `abbreviations.ts` is too large for the page: after any other
 * abbreviation, the voice pauses.
 */
const shortWord =
  /(?:^|[^\p{L}\p{M}\p{N}])(?:[\p{Lu}\p{Ll}]|[b-df-hj-np-tv-xzß]{2,5}|[б-джзк-нп-тф-щ]{2,5}|\p{N}{1,2}|\p{L}\.\s?\p{L}{2,4}|prof|profa|dra|sra|srta|sig|dott|avv|ing|gen|col|sen|gov|rep|rev|hon|capt|messrs|mme|mlle|mevr|uds?|vds?|inkl|exkl|evtl|einschl|insb|allg|geb|mio)$/iu;
const beforeNumber = /(?:^|[^\p{L}])\p{L}{1,4}$/u;

const mayBeAbbreviation = (text: string, next: string): boolean =>
  shortWord.test(text.slice(-16)) || (/^\p{N}/u.test(next) && beforeNumber.test(text.slice(-16)));
