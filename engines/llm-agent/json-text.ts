/** JSON text that arrives in pieces. Linear time: each piece is scanned once, and the text parsed once. */
import { JsonStructure } from '../../lib/json-structure.ts';
import { parseObject } from '../../lib/json.ts';

export class JsonText {
  readonly #pieces: string[] = [];
  readonly #structure = new JsonStructure();
  #isObject: boolean | undefined;
  length = 0;

  /** Ignores text after a complete JSON object: whitespace, or the same object repeated. */
  append(piece: string): void {
    if (piece === '' || this.isWholeObject()) return;
    this.#pieces.push(piece);
    this.length += piece.length;
    this.#structure.add(Buffer.from(piece));
  }

  isWholeObject(): boolean {
    if (!this.#structure.isClosed) return false;
    this.#isObject ??= parseObject(this.text()) !== undefined; // invalid JSON may be balanced too
    return this.#isObject;
  }

  text(): string {
    return this.#pieces.join('');
  }
}
