/** The bytes of a job in the disk budget: its recording, and the rest, which stays longer. */
import type { DiskAccount, DiskBudget } from '../system/disk-budget.ts';

/** The jobs of all callers hold their part of the disk budget together. */
const jobsHolder = Symbol('jobs');

export class Accounts implements Disposable {
  readonly recording: DiskAccount;
  readonly #rest: DiskAccount;
  #recordingBytes: number;
  #restBytes: number;

  constructor(disk: DiskBudget, existing?: { readonly recording: number; readonly rest: number }) {
    this.#recordingBytes = existing?.recording ?? 0;
    this.#restBytes = existing?.rest ?? 0;
    this.recording = disk.open({ holder: jobsHolder, ...(existing && { existing: this.#recordingBytes }) });
    this.#rest = disk.open({ holder: jobsHolder, ...(existing && { existing: this.#restBytes }) });
  }

  get bytes(): number {
    return this.#recordingBytes + this.#restBytes;
  }

  /** Throws `storage-full`. */
  takeRecording(bytes: number): void {
    this.recording.take(bytes);
    this.#recordingBytes += bytes;
  }

  /** Throws `storage-full`. */
  takeRest(bytes: number): void {
    this.#rest.take(bytes);
    this.#restBytes += bytes;
  }

  releaseRecording(): void {
    this.recording[Symbol.dispose]();
    this.#recordingBytes = 0;
  }

  [Symbol.dispose](): void {
    this.recording[Symbol.dispose]();
    this.#rest[Symbol.dispose]();
  }
}
