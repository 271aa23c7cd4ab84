/**
 * One budget for all temporary files of this process: uploads, decoded sound, speech, clips. Bytes are taken before
 * they are written and released once their file is gone.
 */
import { statfsSync } from 'node:fs';
import { EngineError } from '../../engines/contract/index.ts';
import { currentCaller } from '../caller.ts';

/** Who holds the bytes: a caller, or a store that has its own rules for sharing among callers. */
export type Holder = string | symbol;

/** The bytes of one file or directory. Disposing of it releases them. */
export interface DiskAccount extends Disposable {
  /** Called before the bytes are written. Throws `storage-full`. */
  take(bytes: number): void;
}

export interface AccountOptions {
  /** Absent: the caller of the request that runs. */
  readonly holder?: Holder;
  /** The most that this account may take, in bytes. */
  readonly limit?: number;
}

export interface FileSystemSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DiskBudgetOptions {
  /** Absent: 4 GiB, or half of what is free now, whichever is less. */
  readonly bytes?: number | undefined;
  /** statfs of a local file system takes less than a microsecond. */
  readonly space: () => FileSystemSpace;
}

const defaultBytes = 4 * 1024 ** 3;

// 32,000 characters are half an hour of English and more than four hours of Japanese: 745 MB as wav at 24 kHz.
const mostSpeechBytes = 1024 ** 3;

/** The most bytes of one speech, by the size of the budget: a quarter of it. */
export function largestSpeech(budgetBytes: number): number {
  return Math.min(mostSpeechBytes, Math.floor(budgetBytes / 4));
}

/** How much is written between two looks at the free space. */
const lookEveryBytes = 16 * 1024 ** 2;

const mostReservedBytes = 64 * 1024 ** 2;

export class DiskBudget {
  readonly bytes: number;
  readonly #space: () => FileSystemSpace;
  readonly #held = new Map<Holder, number>();
  #used = 0;
  #sinceLook = 0;

  constructor({ space, bytes = Math.min(defaultBytes, Math.floor(space().freeBytes / 2)) }: DiskBudgetOptions) {
    this.bytes = bytes;
    this.#space = space;
  }

  /** Bytes that are taken now. */
  get used(): number {
    return this.#used;
  }

  /** Throws `storage-full` when the file system itself is nearly full. */
  open({ holder = currentCaller(), limit = Infinity }: AccountOptions = {}): DiskAccount {
    this.#expectSpace();
    let taken = 0;
    let isOpen = true;
    return {
      take: (bytes) => {
        if (!isOpen) throw new Error('the disk account is closed');
        if (taken + bytes > limit) throw storageFull(`A temporary file may have at most ${String(limit)} bytes.`);
        this.#take(holder, bytes);
        taken += bytes;
      },
      [Symbol.dispose]: () => {
        if (isOpen) this.#release(holder, taken);
        isOpen = false;
      },
    };
  }

  /**
   * Nobody may hold more than what stays free: a single holder gets half, two get a third each, and there is always
   * room for one more. (Files in use cannot be evicted, so a fixed share would leave the last one without any.)
   */
  #take(holder: Holder, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held > this.bytes - this.#used - bytes) {
      throw storageFull('The disk space for temporary files is used up now; try again later.');
    }
    this.#sinceLook += bytes;
    if (this.#sinceLook >= lookEveryBytes) this.#expectSpace();
    this.#held.set(holder, held);
    this.#used += bytes;
  }

  #release(holder: Holder, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) - bytes;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#used -= bytes;
  }

  /** Others write to the disk too: a little of it stays free for them and for the log. */
  #expectSpace(): void {
    const { freeBytes, totalBytes } = this.#space();
    if (freeBytes < Math.min(mostReservedBytes, totalBytes / 100)) {
      throw storageFull('The disk of the service is nearly full; try again later.');
    }
    this.#sinceLook = 0;
  }
}

/** The file system that a directory is on. */
export function spaceOf(directory: string): FileSystemSpace {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** An EngineError, since it reaches its caller through engines too. */
function storageFull(message: string): EngineError {
  return new EngineError('storage-full', message);
}
