/** JSON lines: each line is a JSON text, ended by `\n`. `LineSplitter` reads them. */

/** JSON.stringify escapes line breaks in strings, but not U+2028 and U+2029, so a reader must not split lines there. */
export const toJsonLine = (value: object, replacer?: (key: string, value: unknown) => unknown): string =>
  `${JSON.stringify(value, replacer)}\n`;

const [lineFeed, carriageReturn] = [10, 13];

/** Programs may write single bytes: parts are joined before they cost more memory than their bytes. */
const maxParts = 1_024;

/** Splits output into lines, which end with \n, \r\n or \r. Memory is bounded: a line is truncated at `limit` bytes. */
export class LineSplitter {
  readonly #limit: number;
  readonly #overflow: 'truncate' | 'throw';
  #parts: Uint8Array[] = [];
  #length = 0;
  /** The last byte was a carriage return: a line feed after it belongs to the same line end. */
  #afterReturn = false;

  /** `throw`: `push` throws for a line over the limit. */
  constructor(limit: number, overflow: 'truncate' | 'throw' = 'truncate') {
    this.#limit = limit;
    this.#overflow = overflow;
  }

  /** The lines that end in this chunk. */
  *push(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const isRest = byte === lineFeed && this.#afterReturn;
      this.#afterReturn = byte === carriageReturn;
      if (byte !== lineFeed && byte !== carriageReturn) continue;
      if (!isRest) {
        this.#keep(chunk.subarray(start, at));
        yield this.#take();
      }
      start = at + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Yields the last line if it has no line end. */
  *end(): Generator<string> {
    if (this.#length > 0) yield this.#take();
  }

  #keep(part: Uint8Array): void {
    const room = this.#limit - this.#length;
    if (part.length > room && this.#overflow === 'throw') throw new Error(`message exceeds ${this.#limit} bytes`);
    if (room === 0 || part.length === 0) return;
    const kept = part.subarray(0, room);
    this.#parts.push(kept);
    this.#length += kept.length;
    if (this.#parts.length > maxParts) this.#parts = [Buffer.concat(this.#parts)];
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    return line;
  }
}
