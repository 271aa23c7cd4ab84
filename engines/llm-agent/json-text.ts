/** JSON text that arrives in pieces. Linear time: each character is scanned once and parsed once. */
import { parseObject } from '../../lib/json.ts';

export interface JsonText {
  readonly length: number;
  append(piece: string): void;
  /** Whether the text is a complete JSON object without anything after it. */
  isWholeObject(): boolean;
  text(): string;
}

export function createJsonText(): JsonText {
  const pieces: string[] = [];
  const scanner = createScanner();
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
      for (; scanned < pieces.length; scanned += 1) scanner.take(pieces[scanned] ?? '');
      if (!scanner.isClosed) return false;
      isObject ??= parseObject(text()) !== undefined;
      return isObject;
    },
    text,
  };
}

/** Counts brackets outside of strings. Invalid JSON may be balanced too, so a closed text is parsed, but only once. */
function createScanner() {
  let state: 'open' | 'closed' | 'continued' = 'open';
  let depth = 0;
  let isQuoted = false;
  let isEscaped = false;

  function takeCharacter(char: string): void {
    if (isEscaped) isEscaped = false;
    else if (isQuoted && char === '\\') isEscaped = true;
    else if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) return;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) state = 'closed';
    }
  }

  return {
    /** Whether the last character has closed the outermost bracket. */
    get isClosed() {
      return state === 'closed';
    },
    take(piece: string): void {
      for (const char of piece) {
        if (state !== 'open') {
          state = 'continued';
          return;
        }
        takeCharacter(char);
      }
    },
  };
}
