import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Reads `length` bytes at `position`, or up to the end of the file. */
export function readAt(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

const windowBytes = 65_536;

/** Like `readAt`, for many small reads near each other, which then share one read of the file. */
export function createReader(file: number): (position: number, length: number) => Uint8Array {
  let start = 0;
  let held = new Uint8Array(0);
  return (position, length) => {
    if (position < start || position + length > start + held.length) {
      start = position;
      held = readAt(file, position, Math.max(length, windowBytes));
    }
    return held.subarray(position - start, position - start + length);
  };
}

/** Returns the position of the first occurrence of these bytes between `start` and `end`, or -1. */
export function findBytes(file: number, start: number, end: number, sought: Uint8Array): number {
  for (let position = start; position < end; position += windowBytes) {
    const window = readAt(file, position, Math.min(windowBytes + sought.length - 1, end - position));
    const found = Buffer.from(window.buffer, 0, window.length).indexOf(sought);
    if (found !== -1) return position + found;
  }
  return -1;
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
