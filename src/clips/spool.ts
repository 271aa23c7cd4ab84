/** A file that any number of readers can read at their own speed while it is being written. */
import { open, truncate, type FileHandle } from 'node:fs/promises';
import { raceAbort } from '../../lib/abort.ts';

/** An inclusive byte range; `last` may be past the end. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

const pieceBytes = 262_144;

export class Spool {
  readonly #path: string;
  readonly #file: FileHandle;
  #bytes = 0;
  #state: 'growing' | 'complete' | 'failed' = 'growing';
  #failure: Error | undefined;
  #progress = Promise.withResolvers<undefined>();

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async create(path: string): Promise<Spool> {
    return new Spool(path, await open(path, 'wx', 0o600));
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a chunk. Calls must not overlap. */
  async append(piece: Uint8Array): Promise<void> {
    for (let written = 0; written < piece.length;) {
      written += (await this.#file.write(piece, written)).bytesWritten;
    }
    this.#bytes += piece.length;
    this.#notify();
  }

  async complete(): Promise<void> {
    await this.#file.close(); // some file systems report ENOSPC only here
    this.#state = 'complete';
    this.#notify();
  }

  /**
   * Fails all readers with `failure`, including those that lag behind. Frees the disk space immediately, even while the
   * file is open.
   */
  async fail(failure: Error): Promise<void> {
    const wasGrowing = this.#state === 'growing';
    this.#state = 'failed';
    this.#failure = failure;
    this.#notify();
    if (wasGrowing) await this.#file.close();
    await truncate(this.#path);
  }

  /** Waits for bytes that have not been written yet. Throws the writer's failure or the signal's reason. */
  async *read({ first, last = Infinity }: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const file = await open(this.#path).catch((cause: unknown) => {
      throw this.#missing(cause);
    });
    try {
      for (let at = first; at <= last;) {
        signal.throwIfAborted();
        if (this.#failure) throw this.#failure;
        const available = Math.min(this.#bytes, last + 1) - at;
        if (available > 0) {
          const piece = Buffer.allocUnsafe(Math.min(available, pieceBytes));
          const { bytesRead } = await file.read(piece, 0, piece.length, at);
          if (bytesRead === 0) throw this.#missing();
          at += bytesRead;
          yield piece.subarray(0, bytesRead);
        } else if (this.#state === 'growing') {
          await raceAbort(this.#progress.promise, signal);
        } else {
          return;
        }
      }
    } finally {
      await file.close();
    }
  }

  /** Returns the error to throw if written bytes cannot be read. */
  #missing(cause?: unknown): Error {
    return this.#failure ?? new Error('a spooled file has lost data', { cause });
  }

  #notify(): void {
    this.#progress.resolve(undefined);
    this.#progress = Promise.withResolvers();
  }
}
