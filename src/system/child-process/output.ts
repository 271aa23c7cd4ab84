/** Output of programs. */
import type { Readable } from 'node:stream';
import { LineSplitter } from '../../../lib/line-splitter.ts';

/** The rest of a longer line is dropped. */
const longestLine = 1_048_576;

/** An exception of `onLine` goes to `fail`: thrown in a listener, it would end the process. */
export function readLines(stream: Readable, onLine: (line: string) => unknown, fail: (error: unknown) => void): void {
  const lines = new LineSplitter(longestLine);
  const report = (found: Iterable<string>) => {
    try {
      for (const line of found) onLine(line);
    } catch (error) {
      fail(error);
    }
  };
  stream.on('data', (chunk: Buffer) => report(lines.push(chunk))).on('close', () => report(lines.end()));
}

/** Output that is on its way arrives within this time after the exit. */
const drainMs = 500;

/**
 * A process that outlives the program, such as a daemon, may hold its pipes open: the output ends without it. A reader
 * that has not read everything yet gets the rest first. Two turns of the event loop are enough to refill a buffer.
 */
export function endAfterExit(stream: Readable): void {
  const end = () => {
    if (stream.readableEnded || stream.destroyed) return;
    if (stream.readableLength > 0) endAfterExit(stream);
    else stream.push(null);
  };
  setTimeout(() => setImmediate(() => setImmediate(end)), drainMs).unref();
}

const tailBytes = 65_536;

/** Keeps the last 64 KB. */
export function tail(stream: Readable): () => string {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-tailBytes);
  });
  stream.on('error', ignore); // the pipe of a killed program; the exit is reported
  return () => kept.toString('utf8');
}

function ignore(): void {
  // The exit is reported.
}
