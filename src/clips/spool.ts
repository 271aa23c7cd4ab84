/** A file that any number of readers read at their own pace while it is still being written. */
import { open, truncate, type FileHandle } from 'node:fs/promises';
import { raceAbort } from '../../lib/abort.ts';

/** A range of bytes; both are included, and `last` may lie behind the end. */
export interface Part {
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

  /** Written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** One at a time. */
  async append(piece: Uint8Array): Promise<void> {
    for (let written = 0; written < piece.length;) {
      written += (await this.#file.write(piece, written)).bytesWritten;
    }
    this.#bytes += piece.length;
    this.#tell();
  }

  async complete(): Promise<void> {
    await this.#file.close(); // some file systems find out only now that they are full
    this.#state = 'complete';
    this.#tell();
  }

  /** Readers end with this failure, also those who lag behind. The room is free at once, whoever keeps the file open. */
  async fail(failure: Error): Promise<void> {
    const wasGrowing = this.#state === 'growing';
    this.#state = 'failed';
    this.#failure = failure;
    this.#tell();
    if (wasGrowing) await this.#file.close();
    await truncate(this.#path);
  }

  /** Waits for what is not there yet. Throws the failure of the writer, or the signal's reason. */
  async *read({ first, last = Infinity }: Part, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const file = await open(this.#path).catch((cause: unknown) => {
      throw this.#missing(cause);
    });
    try {
      for (let at = first; at <= last;) {
        signal.throwIfAborted();
        if (this.#failure) throw this.#failure;
        const there = Math.min(this.#bytes, last + 1) - at;
        if (there > 0) {
          const piece = Buffer.allocUnsafe(Math.min(there, pieceBytes));
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

  /** Why what has been written is not there. */
  #missing(cause?: unknown): Error {
    return this.#failure ?? new Error('a spooled file has lost what was written to it', { cause });
  }

  #tell(): void {
    this.#progress.resolve(undefined);
    this.#progress = Promise.withResolvers();
  }
}
