/** A clip on the disk, and how long it stays there. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { raceAbort, startTimeout } from '../../lib/abort.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import type { AudioType } from '../speech/speaker.ts';
import { Spool, type Part } from './spool.ts';

export interface ClipLimits {
  /** Milliseconds for which a complete clip is kept after it was last read, or completed. */
  readonly keepMs: number;
  /** Milliseconds without progress after which a reader no longer counts. */
  readonly stallMs: number;
  /** The largest clip, in bytes. */
  readonly clipBytes: number;
  /** All clips together; one caller may have half of it while others have any. */
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

export interface ClipOptions {
  /** Whose share of the store it takes. */
  readonly caller: string;
  readonly mediaType: AudioType;
  readonly directory: AccountedDirectory;
  readonly limits: ClipLimits;
  readonly expire: (clip: StoredClip) => void;
}

export class StoredClip implements Clip {
  readonly id = randomBytes(16).toString('base64url');
  readonly caller: string;
  readonly mediaType: AudioType;
  readonly #directory: AccountedDirectory;
  readonly #spool: Spool;
  readonly #limits: ClipLimits;
  readonly #expire: () => void;
  readonly #digest = createHash('sha256');
  readonly #settled = Promise.withResolvers<undefined>();
  #taken = 0;
  #whole: WholeClip | undefined;
  #discarded: Promise<void> | undefined;
  #readers = 0;
  #lastUsed = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor({ caller, mediaType, directory, limits, expire }: ClipOptions, spool: Spool) {
    this.caller = caller;
    this.mediaType = mediaType;
    this.#directory = directory;
    this.#spool = spool;
    this.#limits = limits;
    this.#expire = () => expire(this);
  }

  static async create(options: ClipOptions): Promise<StoredClip> {
    const { directory } = options;
    try {
      return new StoredClip(options, await Spool.create(join(directory.path, 'audio')));
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Somebody reads it and gets on. A reader that stalls protects nothing: it would cost others their clips for free. */
  get isBeingRead(): boolean {
    return this.#readers > 0 && performance.now() - this.#lastUsed < this.#limits.stallMs;
  }

  /** Taken from the disk budget; some of it may still have to be written. */
  get bytes(): number {
    return this.#taken;
  }

  get whole(): WholeClip | undefined {
    return this.#whole;
  }

  /** Called before the bytes are appended. Throws `storage-full`. */
  take(bytes: number): void {
    this.#directory.account.take(bytes);
    this.#taken += bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    await this.#spool.append(piece);
    this.#digest.update(piece);
  }

  async complete(): Promise<void> {
    await this.#spool.complete();
    this.#whole = { bytes: this.#spool.bytes, etag: `"${this.#digest.digest('base64url')}"` };
    this.#settled.resolve(undefined);
    this.#lastUsed = performance.now();
    if (!this.#discarded) this.#expireLater();
  }

  /** Removes the file; who reads it ends with the failure. */
  discard(failure: Error): Promise<void> {
    return (this.#discarded ??= this.#remove(failure));
  }

  async settled(signal: AbortSignal): Promise<void> {
    const over = new Error('it is still being made');
    using timeout = startTimeout(this.#limits.holdMs, () => over, signal);
    await raceAbort(this.#settled.promise, timeout.signal).catch((error: unknown) => {
      if (error !== over) throw error;
    });
  }

  async *read(part: Part, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.#readers += 1;
    try {
      for await (const piece of this.#spool.read(part, signal)) {
        this.#lastUsed = performance.now();
        yield piece;
      }
    } finally {
      this.#readers -= 1;
      this.#lastUsed = performance.now();
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

  /** One timer, which looks again when the clip has been used meanwhile: a timer per piece would cost more. */
  #expireLater(): void {
    const { keepMs, stallMs } = this.#limits;
    const idleSince = this.#lastUsed + (this.#readers > 0 ? stallMs : 0);
    const left = idleSince + keepMs - performance.now();
    if (left <= 0) this.#expire();
    else this.#timer = setTimeout(() => this.#expireLater(), left);
  }
}
