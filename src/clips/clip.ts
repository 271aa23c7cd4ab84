/** A clip on disk, and its expiry. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { raceAbort, startTimeout, startTimer } from '../../lib/abort.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import type { AudioType } from '../contract/audio.ts';
import { Spool, type ByteRange } from './spool.ts';

export interface ClipLimits {
  /** How long to keep a complete clip after its completion or last read, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds without progress after which a reader counts as stalled. */
  readonly stallMs: number;
  /** Maximum size of a clip, in bytes. */
  readonly clipBytes: number;
  /** Maximum size of all clips, in bytes. A caller may use half of it while others have clips. */
  readonly totalBytes: number;
  /** Maximum time that `settled` waits, in milliseconds. */
  readonly holdMs: number;
  /** Milliseconds without a reader after which the synthesis of a clip with `endsUnread` ends. */
  readonly unreadMs: number;
}

export interface WholeClip {
  readonly bytes: number;
  /** A strong validator in quotes (RFC 9110, section 8.8.3): a digest of the bytes. */
  readonly etag: string;
}

export interface Clip {
  /** Ends with 128 random bits in base64url. Knowing it grants access to the clip. */
  readonly id: string;
  readonly mediaType: AudioType;
  /** Undefined until the clip is complete. */
  readonly whole: WholeClip | undefined;
  /** Resolves when the clip is complete or has failed, or after `holdMs`; rejects with the signal's reason. */
  settled(signal: AbortSignal): Promise<void>;
  /** Reads the stored bytes, then waits for the rest. Throws the failure that ended the clip. */
  read(range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

export interface ClipOptions {
  readonly id: string;
  /** The caller whose share of the store the clip counts toward. */
  readonly caller: string;
  readonly mediaType: AudioType;
  readonly directory: AccountedDirectory;
  readonly limits: ClipLimits;
  readonly expire: (clip: StoredClip) => void;
}

export class StoredClip implements Clip {
  readonly id: string;
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
  /** Number of readers, and of requests waiting for the clip to be complete. */
  #uses = 0;
  #lastUsed = 0;
  /** Calls `#endUnread` until the clip is complete, and `#expire` afterwards. */
  #timer: NodeJS.Timeout | undefined;
  #endUnread: (() => void) | undefined;

  private constructor({ id, caller, mediaType, directory, limits, expire }: ClipOptions, spool: Spool) {
    this.id = id;
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

  /**
   * Whether a reader is making progress. A stalled reader does not protect its clip, so that it cannot block other
   * callers.
   */
  get isBeingRead(): boolean {
    return this.#readers > 0 && performance.now() - this.#lastUsed < this.#limits.stallMs;
  }

  /** Bytes taken from the disk budget, including bytes not written yet. */
  get bytes(): number {
    return this.#taken;
  }

  get whole(): WholeClip | undefined {
    return this.#whole;
  }

  /** Call this before appending. Throws `storage-full`. */
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
    clearTimeout(this.#timer);
    if (!this.#discarded) this.#expireLater();
  }

  /** Calls `end` if an incomplete clip has no reader for `unreadMs`. */
  watchReaders(end: () => void): void {
    this.#endUnread = end;
    this.#watchUnread();
  }

  /** Removes the file. Its readers fail with `failure`. */
  discard(failure: Error): Promise<void> {
    return (this.#discarded ??= this.#remove(failure));
  }

  async settled(signal: AbortSignal): Promise<void> {
    const over = new Error('it is still being made');
    using timeout = startTimeout(this.#limits.holdMs, () => over, signal);
    using _use = this.#use();
    await raceAbort(this.#settled.promise, timeout.signal).catch((error: unknown) => {
      if (error !== over) throw error;
    });
  }

  async *read(range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using _use = this.#use();
    this.#readers += 1;
    try {
      for await (const piece of this.#spool.read(range, signal)) {
        this.#lastUsed = performance.now();
        yield piece;
      }
    } finally {
      this.#readers -= 1;
      this.#lastUsed = performance.now();
    }
  }

  /** Counts a reader or a waiting request until it is disposed. */
  #use(): Disposable {
    this.#uses += 1;
    if (!this.#whole) clearTimeout(this.#timer);
    return {
      [Symbol.dispose]: () => {
        this.#uses -= 1;
        this.#watchUnread();
      },
    };
  }

  #watchUnread(): void {
    if (!this.#endUnread || this.#uses > 0 || this.#whole || this.#discarded) return;
    this.#timer = setTimeout(this.#endUnread, this.#limits.unreadMs);
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

  /** Uses one timer, rescheduled if the clip was used in the meantime, which is cheaper than a timer per chunk. */
  #expireLater(): void {
    const { keepMs, stallMs } = this.#limits;
    const idleSince = this.#lastUsed + (this.#readers > 0 ? stallMs : 0);
    const left = idleSince + keepMs - performance.now();
    if (left <= 0) this.#expire();
    else this.#timer = startTimer(() => this.#expireLater(), Math.min(left, keepMs)); // the reader may have finished
  }
}
