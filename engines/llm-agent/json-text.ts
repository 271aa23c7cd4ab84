/** JSON text that arrives in pieces. Linear time: each piece is scanned once, and the text parsed once. */
import { JsonStructure } from '../../lib/json-structure.ts';
import { parseObject } from '../../lib/json.ts';

export interface JsonText {
  readonly length: number;
  append(piece: string): void;
  /** Whether the text is a complete JSON object, and no piece follows it. */
  isWholeObject(): boolean;
  text(): string;
}

export function createJsonText(): JsonText {
  const pieces: string[] = [];
  const structure = new JsonStructure();
  let length = 0;
  /** Number of scanned pieces. Scanning is lazy, because `isWholeObject` is rarely called. */
  let scanned = 0;
  let isObject: boolean | undefined;
  const text = () => pieces.join('');
  return {
    get length() {
      return length;
    },
    append(piece) {
      if (piece === '') return;
      pieces.push(piece);
      length += piece.length;
    },
    isWholeObject() {
      for (; scanned < pieces.length && !structure.isClosed; scanned += 1) {
        structure.add(Buffer.from(pieces[scanned] ?? ''));
      }
      if (!structure.isClosed || scanned < pieces.length) return false;
      isObject ??= parseObject(text()) !== undefined; // invalid JSON may be balanced too
      return isObject;
    },
    text,
  };
}
