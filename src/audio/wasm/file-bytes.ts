import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Reads `length` bytes at `position`, or up to the end of the file. */
export function readAt(file: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

/** Reads a part of the file in pieces of at most `pieceBytes`. */
export function* pieces(file: number, start: number, end: number, pieceBytes: number): Generator<Uint8Array> {
  for (let position = start; position < end; position += pieceBytes) {
    yield readAt(file, position, Math.min(pieceBytes, end - position));
  }
}

/** Opens the file and closes it when the generator ends. */
export function* withFile<T>(path: string, read: (file: number, bytes: number) => Iterable<T>): Generator<T> {
  const file = openSync(path, 'r');
  try {
    yield* read(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}
