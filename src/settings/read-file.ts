/** Reads the files of the operator: regular ones, and pipes such as that of `--config <(sops -d config.yaml)`. */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../lib/errors.ts';

const pollMs = 50;
/** 5 s: a pipe that nobody writes to would keep the service from starting. */
const mostPolls = 100;
/** /dev/zero never ends. */
const mostBytes = 16 * 1_048_576;

export interface ReadFile {
  readonly text: string;
  /** Whether it may change while it is read; a pipe was read to its end. */
  readonly isRegular: boolean;
}

/** For the start: blocks the process. Throws errors of the system, or one that says what is wrong. */
export function readOperatorFileSync(path: string, wait: () => unknown = () => blockFor(pollMs)): ReadFile {
  const reading = attempts(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    wait();
  }
}

/** The same, and blocks nothing. */
export async function readOperatorFile(path: string, wait: () => unknown = () => sleep(pollMs)): Promise<ReadFile> {
  const reading = attempts(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    await wait();
  }
}

/** Yields when there is nothing to read yet. */
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
  for (let polls = 0; polls < mostPolls;) {
    const piece = readPiece(file);
    // A FIFO is at its end, too, as long as it has had no writer.
    if (piece?.length === 0 && (bytes > 0 || !kind.isFIFO())) return Buffer.concat(pieces).toString('utf8');
    if (piece === undefined || piece.length === 0) {
      polls += 1;
      yield;
    } else {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > mostBytes) throw new Error(`it has more than ${mostBytes / 1_048_576} MiB`);
    }
  }
  throw new Error(`nothing has written it to its end within ${(mostPolls * pollMs) / 1000} s`);
}

/** Undefined while its writer has written nothing. */
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
