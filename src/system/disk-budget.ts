/**
 * Shared budget for all temporary files of this process: uploads, decoded audio, speech, clips and jobs. Bytes are
 * taken before writing, and released once the file has been removed.
 */
import { statfsSync } from 'node:fs';
import { EngineError } from '../../engines/contract/index.ts';
import { currentCaller } from '../request-scope.ts';

/** Owner of the bytes: a caller, or a store with its own quotas per caller. */
export type Holder = string | symbol;

/** The bytes of one file or directory, released on disposal. */
export interface DiskAccount extends Disposable {
  /** Call this before writing. Throws `storage-full`. */
  take(bytes: number): void;
}

/** The bytes of several files that may be removed at different times. */
export interface SharedAccount extends DiskAccount {
  /** Bytes that have been taken and not released. */
  readonly bytes: number;
  /** Call this after removing a file. */
  release(bytes: number): void;
}

export interface AccountOptions {
  /** Defaults to the caller of the current request. */
  readonly holder?: Holder;
  /** Maximum bytes of this account. */
  readonly limit?: number;
  /** Bytes that existed before a restart. They count, but are never rejected. */
  readonly existing?: number;
}

export interface FileSystemSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DiskBudgetOptions {
  /** Defaults to 4 GiB, or half of the free space if that is less. */
  readonly bytes?: number | undefined;
  /** Called often, which is fine because statfs takes less than a microsecond on a local file system. */
  readonly space: () => FileSystemSpace;
}

const defaultBytes = 4 * 1024 ** 3;

// 32,000 characters are half an hour of English, or more than four hours of Japanese, which is 745 MB as wav at 24 kHz.
const maxSpeechBytes = 1024 ** 3;

/** Size limit of a speech: a quarter of the budget, at most 1 GiB. */
export function largestSpeech(budgetBytes: number): number {
  return Math.min(maxSpeechBytes, Math.floor(budgetBytes / 4));
}

/** Number of bytes written between checks of the free space. */
const checkEveryBytes = 16 * 1024 ** 2;

const maxReservedBytes = 64 * 1024 ** 2;

export class DiskBudget {
  readonly bytes: number;
  readonly #space: () => FileSystemSpace;
  readonly #held = new Map<Holder, number>();
  #used = 0;
  #sinceCheck = 0;

  constructor({ space, bytes = Math.min(defaultBytes, Math.floor(space().freeBytes / 2)) }: DiskBudgetOptions) {
    this.bytes = bytes;
    this.#space = space;
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /**
   * Opens an account. Throws `storage-full` if the file system itself is nearly full, unless the bytes already exist.
   */
  open({ holder = currentCaller(), limit = Infinity, existing }: AccountOptions = {}): SharedAccount {
    if (existing === undefined) this.#expectSpace();
    let taken = existing ?? 0;
    this.#add(holder, taken);
    let isOpen = true;
    const release = (bytes: number) => {
      if (!isOpen) return;
      this.#release(holder, bytes);
      taken -= bytes;
    };
    return {
      release,
      get bytes() {
        return taken;
      },
      take: (bytes) => {
        if (!isOpen) throw new Error('the disk account is closed');
        if (taken + bytes > limit) throw storageFull(`The temporary file exceeds the limit of ${String(limit)} bytes.`);
        this.#take(holder, bytes);
        taken += bytes;
      },
      [Symbol.dispose]: () => {
        release(taken);
        isOpen = false;
      },
    };
  }

  /**
   * An owner may use at most as much as then remains free: a single owner gets half, two get a third each, and there is
   * always space for one more. (Files in use cannot be evicted, so with fixed shares the last owner would get nothing.)
   */
  #take(holder: Holder, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held > this.bytes - this.#used - bytes) {
      throw storageFull('The disk budget for temporary files is exhausted; try again later.');
    }
    this.#sinceCheck += bytes;
    if (this.#sinceCheck >= checkEveryBytes) this.#expectSpace();
    this.#add(holder, bytes);
  }

  #add(holder: Holder, bytes: number): void {
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes);
    this.#used += bytes;
  }

  #release(holder: Holder, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) - bytes;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#used -= bytes;
  }

  /** Keeps some free space for other programs and the log. */
  #expectSpace(): void {
    const { freeBytes, totalBytes } = this.#space();
    if (freeBytes < Math.min(maxReservedBytes, totalBytes / 100)) {
      throw storageFull('The disk of the service is nearly full; try again later.');
    }
    this.#sinceCheck = 0;
  }
}

/** Returns the space of the file system that contains a directory. */
export function spaceOf(directory: string): FileSystemSpace {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Returns an EngineError, because the error also passes through engines. */
function storageFull(message: string): EngineError {
  return new EngineError('storage-full', message);
}
