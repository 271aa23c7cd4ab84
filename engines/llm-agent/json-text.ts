/** JSON text that arrives in pieces. Linear time: each piece is scanned once, and the text parsed once. */
import { JsonStructure } from '../../lib/json-structure.ts';
import { parseObject } from '../../lib/json.ts';

export class JsonText {
  readonly #pieces: string[] = [];
  readonly #structure = new JsonStructure();
  /** Number of scanned pieces. Scanning is lazy, because `isWholeObject` is rarely called. */
  #scanned = 0;
  #isObject: boolean | undefined;
  length = 0;

  append(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  /** Whether the text is a complete JSON object, and no piece follows it. */
  isWholeObject(): boolean {
    for (; this.#scanned < this.#pieces.length && !this.#structure.isClosed; this.#scanned += 1) {
      this.#structure.add(Buffer.from(this.#pieces[this.#scanned] ?? ''));
    }
    if (!this.#structure.isClosed || this.#scanned < this.#pieces.length) return false;
    this.#isObject ??= parseObject(this.text()) !== undefined; // invalid JSON may be balanced too
    return this.#isObject;
  }

  text(): string {
    return this.#pieces.join('');
  }
}
