/** The jobs of this service: their limits, their places on the disk, and who is at work. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger, Recording } from '../../engines/contract/index.ts';
import { linkedSignal, type LinkedSignal, onAbort, pause, startTimeout, startTimer } from '../../lib/abort.ts';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { tryLock, type FileLock } from '../../lib/file-lock.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import type { Upload } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { currentCaller, currentKey } from '../request-scope.ts';
import type { DiskBudget } from '../system/disk-budget.ts';
import { Accounts } from './accounts.ts';
import { followJob, notFound, type Following, type TranscriptionEvent } from './events.ts';
import { JobFolder } from './folder.ts';
import { Job, type JobView } from './job.ts';
import { recordVersion, type JobRecord, type JobStatus, type Task, type Timestamps } from './record.ts';

export interface JobStoreOptions {
  /** DATA_DIR/jobs. */
  readonly directory: string;
  /** Why there are no jobs; undefined: there are. */
  readonly off: string | undefined;
  readonly disk: DiskBudget;
  /** TRANSCRIBE_JOB_KEEP, in milliseconds. */
  readonly keepMs: number;
  /** TRANSCRIBE_JOB_MAX_MB, in bytes. */
  readonly maxBytes: number;
  /** Milliseconds between two attempts to become the owner. */
  readonly ownerMs?: number | undefined;
  /** Works on a job until it is over, in the scope of its caller. */
  readonly work: (job: Job, signal: AbortSignal) => Promise<JobRecord['problem']>;
  readonly log: Logger;
  /** The start of every id. */
  readonly idPrefix?: string | undefined;
}

/** Name of the API key that asks; null in open mode. */
export type JobReader = string | null;

export const currentReader = (): JobReader => currentKey()?.name ?? null;

export interface ViewOptions {
  readonly reader: JobReader;
  /** Milliseconds to wait for the end of the job; 0: none. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * The jobs that a request may name: those of this process, in a fleet those of all fronts. Each function throws
 * `transcription-not-found`, also for the jobs of other keys, and `transcription-disabled`, `not-ready` or `overloaded`
 * where no job can be looked at.
 */
export interface Jobs extends Pick<JobStore, 'isOn' | 'requirePlace' | 'openUpload' | 'accept'> {
  /** As it is when it is over, or after so many milliseconds. */
  view(id: string, options: ViewOptions): Promise<JobView>;
  events(id: string, following: Following & { readonly reader: JobReader }): Promise<AsyncIterable<TranscriptionEvent>>;
  /** Ends the work, and resolves when nothing is left. */
  remove(id: string, reader: JobReader): Promise<void>;
}

export interface NewJob {
  readonly requestId: string;
  readonly model: string;
  readonly language: string | null;
  readonly timestamps: Timestamps;
  readonly task: Task;
  readonly pace: number | null;
}

export interface JobCounts {
  readonly states: Readonly<Record<JobStatus, number>>;
  readonly bytes: number;
}

const mostUnfinished = { ofCaller: 8, ofService: 100 } as const;
/** With those that are over and kept. */
const mostInAll = { ofCaller: 100, ofService: 1_000 } as const;

const setAsideName = 'set-aside';
const lockName = 'owner.sqlite';
const ownerMs = 10_000;
const againMs = 60_000;
/** Allowance for the record. */
const recordBytes = 4096;

interface Entry {
  readonly job: Job;
  readonly accounts: Accounts;
  /** Absent while it waits. */
  working?: { readonly link: LinkedSignal; readonly done: Promise<void> };
  expiry?: NodeJS.Timeout;
}

interface PendingUpload {
  readonly caller: string;
  readonly folder: JobFolder;
  readonly accounts: Accounts;
}

type State = { readonly is: 'idle' | 'owner' } | { readonly is: 'off' | 'waiting'; readonly reason: string };

export class JobStore implements Jobs, AsyncDisposable {
  readonly #options: JobStoreOptions;
  readonly #entries = new Map<string, Entry>();
  /** Uploads that are not accepted yet, by the path of their folder. */
  readonly #uploads = new Map<string, PendingUpload>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #state: State;
  #lock: FileLock | undefined;
  #becoming: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JobStoreOptions) {
    this.#options = options;
    this.#state = options.off === undefined ? { is: 'idle' } : { is: 'off', reason: options.off };
  }

  /** Goes on with the jobs of before, if there are any. Never rejects. */
  async open(): Promise<void> {
    if (this.#state.is === 'off') return;
    const hasJobs = await readdir(this.#options.directory).then(
      (names) => names.length > 0,
      () => false,
    );
    if (hasJobs) await this.#becomeOwner();
  }

  get isOn(): boolean {
    return this.#state.is !== 'off';
  }

  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  /** Throws `transcription-disabled` or `not-ready`. */
  async #requireOwner(): Promise<void> {
    await this.#giveUpLostLock();
    if (this.#state.is === 'idle') await this.#becomeOwner();
    const state = this.#state;
    if (state.is === 'off') throw new ProblemError('transcription-disabled', state.reason);
    if (state.is === 'waiting') throw new ProblemError('not-ready', state.reason, { headers: { 'Retry-After': '30' } });
  }

  /** Before the upload. Throws `transcription-disabled`, `not-ready`, `concurrency-limited` and `overloaded`. */
  async requirePlace(): Promise<void> {
    await this.#requireOwner();
    this.#requireRoom(currentCaller());
  }

  /** Throws `concurrency-limited` and `overloaded`. */
  #requireRoom(caller: string): void {
    const all = [...this.#entries.values()].map(({ job }) => job.record.caller);
    const unfinished = [...this.#entries.values()].filter(({ job }) => !job.isOver).map(({ job }) => job.record.caller);
    const uploads = [...this.#uploads.values()].map((upload) => upload.caller);
    const own = (callers: readonly string[]) => callers.filter((other) => other === caller).length;
    const begun = [...unfinished, ...uploads];
    if (own(begun) >= mostUnfinished.ofCaller || own(all) >= mostInAll.ofCaller) {
      const detail = `You have ${own(begun)} transcriptions that are not over and ${own(all)} in all; wait for one or delete one.`;
      throw new ProblemError('concurrency-limited', detail, { headers: { 'Retry-After': '60' } });
    }
    if (begun.length >= mostUnfinished.ofService || all.length >= mostInAll.ofService) {
      const detail = 'The service has as many transcriptions as it takes; try again later.';
      throw new ProblemError('overloaded', detail, { headers: { 'Retry-After': '60' } });
    }
  }

  /** Where a recording is uploaded to; `declared` bytes are reserved. Throws as `requirePlace`, and `storage-full`. */
  async openUpload(declared: number | undefined): Promise<Upload> {
    const { disk, directory, maxBytes } = this.#options;
    const caller = currentCaller();
    this.#requireRoom(caller); // others may have begun since `requirePlace`; from here on this upload counts
    const accounts = new Accounts(disk);
    const folder = new JobFolder(
      directory,
      `${this.#options.idPrefix ?? ''}${randomBytes(16).toString('base64url')}`,
      (bytes) => accounts.takeRest(bytes),
    );
    const take = (bytes: number) => {
      if (this.#bytesOf(caller) + bytes > disk.bytes / 4) {
        throw new ProblemError('storage-full', 'Your transcriptions hold their share of the disk; delete one or wait.');
      }
      accounts.takeRecording(bytes);
    };
    this.#uploads.set(folder.path, { caller, folder, accounts });
    const discard = async () => {
      if (!this.#uploads.delete(folder.path)) return; // accepted
      await this.#clear(folder, accounts);
    };
    try {
      let reserved = Math.min(declared ?? 0, maxBytes);
      accounts.takeRest(recordBytes);
      take(reserved);
      await folder.create();
      return {
        path: folder.path,
        maxBytes,
        account: {
          take: (bytes) => {
            const more = Math.max(0, bytes - reserved);
            reserved = Math.max(0, reserved - bytes);
            if (more > 0) take(more);
          },
        },
        [Symbol.asyncDispose]: discard,
      };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /**
   * Resolves when the job is on the disk; then its work begins. An abort of the signal removes it: its caller has
   * disconnected before the answer was sent.
   */
  async accept({ path, bytes, container }: Recording, request: NewJob, signal: AbortSignal): Promise<Job> {
    const place = dirname(path);
    const upload = this.#uploads.get(place);
    if (!upload) throw new Error('the recording is not an upload of a job');
    const { folder, caller, accounts } = upload;
    const record: JobRecord = {
      ...{ version: recordVersion, id: folder.id, caller, key: currentReader(), ...request },
      ...{ container, bytes, createdAt: Date.now() },
      ...{ status: 'queued', durationMs: null, endedAt: null, problem: null },
    };
    signal.throwIfAborted();
    await folder.accept(record);
    signal.throwIfAborted(); // its folder is removed with the request
    this.#uploads.delete(place);
    const job = Job.create(folder, record);
    this.#entries.set(job.id, { job, accounts });
    onAbort(signal, () => this.#track(this.#remove(job.id)));
    this.#startNext(caller);
    return job;
  }

  async #find(id: string, reader: JobReader): Promise<Job> {
    await this.#requireOwner();
    const job = this.#entries.get(id)?.job;
    if (job?.record.key !== reader) throw notFound(id);
    if (await this.#forgetGone(job)) throw notFound(id);
    return job;
  }

  async view(id: string, { reader, waitMs, signal }: ViewOptions): Promise<JobView> {
    const job = await this.#find(id, reader);
    if (waitMs > 0) await waitForEnd(job, waitMs, signal);
    return (await this.#find(id, reader)).view(this.#options.keepMs);
  }

  async events(id: string, { reader, ...following }: Following & { readonly reader: JobReader }) {
    return followJob(await this.#find(id, reader), following);
  }

  async remove(id: string, reader: JobReader): Promise<void> {
    await this.#find(id, reader);
    await this.#remove(id);
  }

  /** What its ids begin with, in a fleet: the tags of this front, and of those that had the directory before. */
  get tags(): ReadonlySet<string> {
    return new Set([...this.#entries.keys()].flatMap((id) => /^(.+)\./.exec(id)?.[1] ?? []));
  }

  counts(): JobCounts {
    const states = { queued: 0, running: 0, completed: 0, failed: 0 };
    let bytes = 0;
    for (const { job, accounts } of this.#entries.values()) {
      states[job.record.status] += 1;
      bytes += accounts.bytes;
    }
    return { states, bytes };
  }

  /** The parts at work are given up; the next start does them again. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
    await this.#becoming;
    for (const { expiry } of this.#entries.values()) clearTimeout(expiry);
    await Promise.allSettled(this.#pending);
    this.#lock?.[Symbol.dispose]();
  }

  // ------------------------------------------------------------------------------------------------------- owner

  /** Never rejects. */
  #becomeOwner(): Promise<void> {
    return (this.#becoming ??= this.#tryToOwn().finally(() => (this.#becoming = undefined)));
  }

  /** The directory was removed at run time, or its lock: the next request makes them again. */
  async #giveUpLostLock(): Promise<void> {
    const lock = this.#lock;
    if (!(await lock?.isLost()) || this.#lock !== lock) return;
    this.#options.log.error({ directory: this.#options.directory }, 'the directory of the transcriptions was removed');
    lock?.[Symbol.dispose]();
    this.#lock = undefined;
    this.#state = { is: 'idle' };
  }

  async #tryToOwn(): Promise<void> {
    const { directory, log } = this.#options;
    try {
      await makeDirectory(dirname(directory));
      await mkdir(directory, { mode: 0o700 }).catch(orExists);
      await readdir(directory); // it may be a file
      this.#lock ??= await tryLock(join(directory, lockName), 'exclusive');
      if (this.#lock) {
        await this.#load();
        this.#state = { is: 'owner' };
        return;
      }
      // The other service has these jobs now.
      const left = await Promise.all([...this.#entries.keys()].map((id) => this.#forget(id)));
      for (const entry of left) entry?.accounts[Symbol.dispose]();
      this.#wait('Another service works on the transcriptions of this DATA_DIR; this one takes over when it ends.');
    } catch (error) {
      if (this.#state.is !== 'waiting') log.error({ err: error, directory }, 'transcription jobs cannot be used');
      this.#wait(`The directory of the transcriptions cannot be used: ${errnoOf(error) ?? messageOf(error)}.`);
    }
  }

  #wait(reason: string): void {
    this.#state = { is: 'waiting', reason };
    if (this.#closing.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#becomeOwner(), this.#options.ownerMs ?? ownerMs).unref();
  }

  async #load(): Promise<void> {
    const { directory, log } = this.#options;
    for (const { job } of [...this.#entries.values()]) await this.#forgetGone(job);
    for (const found of await readdir(directory, { withFileTypes: true })) {
      const { name } = found;
      if (name === setAsideName || name.startsWith(lockName) || this.#entries.has(name)) continue;
      const folder = new JobFolder(directory, name);
      if (this.#uploads.has(folder.path)) continue; // the directory was lost at run time
      if (!found.isDirectory()) this.#leave(folder);
      else await this.#restore(folder).catch((error: unknown) => this.#setAside(folder, error));
    }
    const jobs = [...this.#entries.values()].sort(
      (one, other) => one.job.record.createdAt - other.job.record.createdAt,
    );
    if (jobs.length > 0) log.info({ jobs: jobs.length }, 'goes on with transcription jobs');
    for (const caller of new Set(jobs.map(({ job }) => job.record.caller))) this.#startNext(caller);
  }

  /** Never rejects: one folder that cannot be moved must not stop the other jobs. */
  async #setAside({ path, id }: JobFolder, cause: unknown): Promise<void> {
    const { directory, log } = this.#options;
    const keptAs = join(directory, setAsideName, `${id}-${Date.now()}`);
    try {
      await mkdir(dirname(keptAs), { mode: 0o700 }).catch(orExists);
      await rename(path, keptAs);
      log.error({ err: cause, keptAs }, 'a transcription job cannot be read and is set aside');
    } catch (error) {
      log.error(
        { err: cause, path, reason: messageOf(error) },
        'a transcription job can be neither read nor set aside',
      );
    }
  }

  #leave({ path }: JobFolder): void {
    this.#options.log.warn({ path }, 'this is no transcription job, and stays where it is');
  }

  async #restore(folder: JobFolder): Promise<void> {
    const { disk, keepMs } = this.#options;
    const record = folder.hasJobId ? await folder.read() : undefined;
    if (!record) {
      const isGone = folder.hasJobId && (await folder.removeRemains());
      if (!isGone) this.#leave(folder);
      return;
    }
    if (record.endedAt !== null && record.endedAt + keepMs <= Date.now()) return folder.remove();
    const job = await Job.restore(folder, record);
    if (job.isOver) await folder.removeRecording();
    const { recording, rest } = await folder.sizes();
    const accounts = new Accounts(disk, { recording, rest });
    folder.take = (bytes) => accounts.takeRest(bytes);
    const entry: Entry = { job, accounts };
    this.#entries.set(job.id, entry);
    if (job.isOver) this.#expireLater(entry);
  }

  // -------------------------------------------------------------------------------------------------------- work

  /** One job of a caller is at work at a time: the parts of the others would only wait behind its own. */
  #startNext(caller: string): void {
    if (this.#closing.signal.aborted) return;
    const own = [...this.#entries.values()]
      .filter(({ job }) => job.record.caller === caller && !job.isOver)
      .sort((one, other) => rankOf(one) - rankOf(other));
    own.forEach(({ job, working }, place) => {
      if (!working) job.waits(place);
    });
    const [next] = own;
    if (!next || own.some(({ working }) => working)) return;
    next.job.waits(0);
    const link = linkedSignal(this.#closing.signal);
    const done = this.#run(next, link);
    next.working = { link, done };
    this.#track(done);
  }

  /** A record that cannot be written, such as on a full disk, is tried again: the job goes on until it is over. */
  async #run(entry: Entry, link: LinkedSignal): Promise<void> {
    const { job } = entry;
    const { log, work } = this.#options;
    const { signal } = link;
    const failed = async (error: unknown) => {
      if (signal.aborted || (await this.#forgetGone(job))) return;
      log.error({ id: job.record.requestId, err: error }, 'a job could not be ended');
      await pause(againMs, signal).catch(() => undefined);
    };
    const end = async () => this.#finish(entry, await work(job, signal));
    while (!signal.aborted && !job.isOver) await end().catch(failed);
    link[Symbol.dispose]();
    delete entry.working;
    this.#startNext(job.record.caller);
  }

  async #finish(entry: Entry, problem: JobRecord['problem']): Promise<void> {
    const { job, accounts } = entry;
    await job.update({ status: problem ? 'failed' : 'completed', problem, endedAt: Date.now() });
    await job.folder.removeRecording();
    accounts.releaseRecording();
    this.#expireLater(entry);
  }

  #expireLater(entry: Entry): void {
    const { job } = entry;
    const { keepMs } = this.#options;
    // A clock that was set back makes no job younger than its end.
    const ageMs = Math.max(0, Date.now() - (job.record.endedAt ?? 0));
    entry.expiry = startTimer(() => this.#track(this.#remove(job.id)), Math.max(0, keepMs - ageMs)).unref();
  }

  /** Whether the files of the job were removed by somebody else; then there is no such job. */
  async #forgetGone(job: Job): Promise<boolean> {
    const { log } = this.#options;
    if (!(await job.folder.isGone())) return false;
    if (this.#entries.has(job.id)) log.error({ path: job.folder.path }, 'the files of a transcription job are gone');
    this.#track(this.#remove(job.id));
    return true;
  }

  async #remove(id: string): Promise<void> {
    const entry = await this.#forget(id);
    if (!entry) return;
    await this.#clear(entry.job.folder, entry.accounts);
    this.#startNext(entry.job.record.caller);
  }

  /** Ends the work on a job; its files stay, and its bytes stay counted. */
  async #forget(id: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    clearTimeout(entry.expiry);
    entry.job.removed();
    entry.working?.link.abort(notFound(id));
    await entry.working?.done;
    return entry;
  }

  async #clear(folder: JobFolder, accounts: Accounts): Promise<void> {
    await folder.remove().catch((error: unknown) => {
      this.#options.log.error({ err: error, path: folder.path }, 'the files of a job could not be removed');
    });
    accounts[Symbol.dispose]();
  }

  #bytesOf(caller: string): number {
    const kept = [...this.#entries.values()].filter(({ job }) => job.record.caller === caller);
    const uploads = [...this.#uploads.values()].filter((upload) => upload.caller === caller);
    return [...kept, ...uploads].reduce((sum, { accounts }) => sum + accounts.bytes, 0);
  }

  #track(work: Promise<unknown>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work)).catch(() => undefined);
  }
}

/** What is on the disk, for the operator: the jobs of the service that works on them. */
export async function measureJobs(directory: string): Promise<{ jobs: number; setAside: number; bytes: number }> {
  const names = await readdir(directory).catch(() => []);
  const jobs = names.filter((name) => new JobFolder(directory, name).hasJobId);
  const setAside = await readdir(join(directory, setAsideName)).catch(() => []);
  const folders = [...jobs, ...setAside.map((name) => join(setAsideName, name))];
  const gone = { recording: 0, rest: 0 };
  const sizes = await Promise.all(folders.map((name) => new JobFolder(directory, name).sizes().catch(() => gone)));
  const bytes = sizes.reduce((sum, { recording, rest }) => sum + recording + rest, 0);
  return { jobs: jobs.length, setAside: setAside.length, bytes };
}

/** The one at work comes first, whichever was created first. */
function rankOf({ job, working }: Entry): number {
  return working ? 0 : job.record.createdAt;
}

async function waitForEnd(job: Job, ms: number, signal: AbortSignal): Promise<void> {
  using timeout = startTimeout(ms, () => new Error('the wait is over'), signal);
  try {
    while (!job.isOver) await job.change(timeout.signal);
  } catch {
    signal.throwIfAborted();
  }
}

function orExists(error: unknown): void {
  if (errnoOf(error) !== 'EEXIST') throw error;
}
