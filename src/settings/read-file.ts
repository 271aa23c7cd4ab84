/** Reads files that the operator provides: regular files, and pipes such as `--config <(sops -d config.yaml)`. */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../lib/errors.ts';

const pollMs = 50;
/** Maximum number of polls, 5 s in total. Otherwise, a pipe without a writer would block startup. */
const maxPolls = 100;
/** Maximum size, because a device such as /dev/zero never ends. */
const maxBytes = 16 * 1_048_576;

export interface ReadFile {
  readonly text: string;
  /** True for a regular file, which may change while it is read. A pipe is always read to its end. */
  readonly isRegular: boolean;
}

/** Reads a file at startup, blocking the process. Throws system errors, and errors for endless or stalled files. */
export function readOperatorFileSync(path: string, wait: () => unknown = () => blockFor(pollMs)): ReadFile {
  const reading = attempts(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    wait();
  }
}

/** Like `readOperatorFileSync`, without blocking. */
export async function readOperatorFile(path: string, wait: () => unknown = () => sleep(pollMs)): Promise<ReadFile> {
  const reading = attempts(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    await wait();
  }
}

/** Yields whenever there is nothing to read yet. */
function* attempts(path: string): Generator<undefined, ReadFile> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // without a writer, opening a FIFO would block
  try {
    const found = fstatSync(file);
    if (found.isFile() || found.isDirectory()) return { text: readFileSync(file, 'utf8'), isRegular: true };
    return { text: yield* readToEnd(file, found), isRegular: false };
  } finally {
    closeSync(file);
  }
}

function* readToEnd(file: number, kind: Stats): Generator<undefined, string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (let polls = 0; polls < maxPolls;) {
    const piece = readPiece(file);
    // A FIFO also appears to be at its end before its first writer opens it.
    if (piece?.length === 0 && (bytes > 0 || !kind.isFIFO())) return Buffer.concat(pieces).toString('utf8');
    if (piece === undefined || piece.length === 0) {
      polls += 1;
      yield;
    } else {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes / 1_048_576} MiB`);
    }
  }
  throw new Error(`nothing has written it to its end within ${(maxPolls * pollMs) / 1000} s`);
}

/** Returns undefined while the writer has written nothing new. */
function readPiece(file: number): Buffer | undefined {
  const piece = Buffer.alloc(65_536);
  try {
    return piece.subarray(0, readSync(file, piece));
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
