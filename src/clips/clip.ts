/** A clip on the disk, and how long it stays there. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TemporaryDirectory } from '../../engines/contract.ts';
import { unlessAborted, withDeadline } from '../deadline.ts';
import type { AudioType } from '../speech/speaker.ts';
import { Spool, type Part } from './spool.ts';

export interface ClipLimits {
  /** Milliseconds for which a complete clip is kept after it was last read, or completed. */
  readonly keepMs: number;
  /** The largest clip, in bytes. */
  readonly clipBytes: number;
  /** All clips together. The oldest complete ones go first, those that somebody reads after the others. */
  readonly totalBytes: number;
  /** Milliseconds that `settled` waits at most. */
  readonly holdMs: number;
}

export interface WholeClip {
  readonly bytes: number;
  /** A strong validator with its quotes (RFC 9110, 8.8.3): a digest of the bytes. */
  readonly etag: string;
}

export interface Clip {
  /** 128 random bits, in base64url: to know it is the permission to hear the clip. */
  readonly id: string;
  readonly mediaType: AudioType;
  /** Undefined until it is complete. */
  readonly whole: WholeClip | undefined;
  /** Resolves when it is complete, has failed, or neither within `holdMs`; rejects with the signal's reason. */
  settled(signal: AbortSignal): Promise<void>;
  /** What of it is there, and what is to come; throws why there is no more of it. */
  read(part: Part, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

export class StoredClip implements Clip {
  readonly id = randomBytes(16).toString('base64url');
  readonly mediaType: AudioType;
  readonly #directory: TemporaryDirectory;
  readonly #spool: Spool;
  readonly #limits: ClipLimits;
  readonly #expire: () => void;
  readonly #digest = createHash('sha256');
  readonly #settled = Promise.withResolvers<undefined>();
  #whole: WholeClip | undefined;
  #discarded: Promise<void> | undefined;
  #readers = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    mediaType: AudioType,
    directory: TemporaryDirectory,
    spool: Spool,
    limits: ClipLimits,
    expire: (clip: StoredClip) => void,
  ) {
    this.mediaType = mediaType;
    this.#directory = directory;
    this.#spool = spool;
    this.#limits = limits;
    this.#expire = () => expire(this);
  }

  static async create(
    mediaType: AudioType,
    directory: TemporaryDirectory,
    limits: ClipLimits,
    expire: (clip: StoredClip) => void,
  ): Promise<StoredClip> {
    try {
      return new StoredClip(mediaType, directory, await Spool.create(join(directory.path, 'audio')), limits, expire);
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Complete, and read by nobody now. */
  get idle(): boolean {
    return this.#whole !== undefined && this.#readers === 0;
  }

  get bytes(): number {
    return this.#spool.bytes;
  }

  get whole(): WholeClip | undefined {
    return this.#whole;
  }

  async append(piece: Uint8Array): Promise<void> {
    await this.#spool.append(piece);
    this.#digest.update(piece);
  }

  async complete(): Promise<void> {
    await this.#spool.complete();
    this.#whole = { bytes: this.bytes, etag: `"${this.#digest.digest('base64url')}"` };
    this.#settled.resolve(undefined);
    this.#keep();
  }

  /** Removes the file; who reads it ends with the failure. */
  discard(failure: Error): Promise<void> {
    return (this.#discarded ??= this.#remove(failure));
  }

  async settled(signal: AbortSignal): Promise<void> {
    const over = new Error('it is still being made');
    await withDeadline({ signal, ms: this.#limits.holdMs, late: () => over }, (limited) =>
      unlessAborted(this.#settled.promise, limited),
    ).catch((error: unknown) => {
      if (error !== over) throw error;
    });
  }

  async *read(part: Part, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.#readers += 1;
    clearTimeout(this.#timer);
    try {
      yield* this.#spool.read(part, signal);
    } finally {
      this.#readers -= 1;
      this.#keep();
    }
  }

  async #remove(failure: Error): Promise<void> {
    clearTimeout(this.#timer);
    this.#settled.resolve(undefined);
    try {
      await this.#spool.fail(failure);
    } finally {
      await this.#directory[Symbol.asyncDispose]();
    }
  }

  #keep(): void {
    if (this.#discarded || !this.#whole || this.#readers > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#expire, this.#limits.keepMs);
  }
}
