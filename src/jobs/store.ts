/** The jobs of this service: enforces their limits, accounts for their disk space, and decides which of them run. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger, Recording } from '../../engines/contract/index.ts';
import { linkedSignal, type LinkedSignal, onAbort, pause, startTimer } from '../../lib/abort.ts';
import { joinFirst } from '../../lib/listing.ts';
import type { Upload } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { currentCaller, currentKey } from '../request-scope.ts';
import type { DiskBudget, SharedAccount } from '../system/disk-budget.ts';
import type { JobDatabase } from './database.ts';
import { emptyFolder, flushFiles, inRecordings, obstacleOf, recordingIn, removeFiles } from './directory.ts';
import { followJob, notFound, type Following, type TranscriptionEvent } from './events.ts';
import { Job, type JobView } from './job.ts';
import { openJobDatabase, type OpenedJobs } from './open-database.ts';
import { filesBytes, type JobRecord, type JobStatus, type NewJob } from './record.ts';

export interface JobStoreOptions {
  /** DATA_DIR/jobs. */
  readonly directory: string;
  /** The reason if jobs are disabled. */
  readonly off: string | undefined;
  readonly disk: DiskBudget;
  /** TRANSCRIBE_JOB_KEEP, in milliseconds. */
  readonly keepMs: number;
  /** TRANSCRIBE_JOB_MAX_MB, in bytes. */
  readonly maxBytes: number;
  /** Milliseconds between attempts to become the owner of the jobs. */
  readonly ownerMs: number;
  /** Runs a job until it is over, in the scope of its caller. */
  readonly work: (job: Job, signal: AbortSignal) => Promise<JobRecord['problem']>;
  readonly log: Logger;
  /** Prefix of every id. */
  readonly idPrefix?: string | undefined;
}

/** Name of the caller's API key; null in open mode. */
export type JobReader = string | null;

export const currentReader = (): JobReader => currentKey()?.name ?? null;

export interface ViewOptions {
  readonly reader: JobReader;
  /** Milliseconds to wait for the end of the job. 0 returns immediately. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * The operations on jobs that requests use. An unknown id, or one of another key, throws `transcription-not-found`. If
 * the jobs are unavailable, functions throw `transcription-disabled` or `not-ready`.
 */
export type Jobs = Pick<JobStore, 'isOn' | 'requirePlace' | 'openUpload' | 'accept' | 'view' | 'events' | 'remove'>;

const maxUnfinished = { ofCaller: 8, ofService: 100 } as const;
/** Maximum number of jobs, including finished jobs that are kept. */
const maxTotal = { ofCaller: 100, ofService: 1_000 } as const;

/** Delay before a failed write is retried. */
const writeRetryMs = 60_000;
/** Disk space reserved for a record. */
const recordBytes = 4096;
/** The jobs of all callers share one holder in the disk budget. */
const holder = Symbol('jobs');

interface StoredJob {
  readonly job: Job;
  readonly account: SharedAccount;
  /** Absent unless the job is running. */
  working?: { readonly link: LinkedSignal; readonly done: Promise<void> };
  expiry?: NodeJS.Timeout;
}

export class JobStore implements AsyncDisposable {
  readonly #options: JobStoreOptions;
  /** Jobs by id, in the order of their creation. */
  readonly #entries = new Map<string, StoredJob>();
  /** Uploads that have not been accepted yet, by the path of their folder. */
  readonly #uploads = new Map<string, { readonly caller: string; readonly account: SharedAccount }>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  /** Undefined unless this service owns the jobs. */
  #database: JobDatabase | undefined;
  #opening: Promise<void> | undefined;
  /** Why the database could not be opened. `#timer` starts the next attempt. */
  #obstacle: string | undefined;
  /** Paths within the directory that do not belong to the jobs. */
  #foreign: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JobStoreOptions) {
    this.#options = options;
  }

  /** Resumes the jobs from before a restart, if any. Never rejects. */
  async open(): Promise<void> {
    if (this.isOn && existsSync(this.#options.directory)) await this.#open();
  }

  get isOn(): boolean {
    return this.#options.off === undefined;
  }

  /** Throws `transcription-disabled` or `not-ready`. */
  async #requireDatabase(): Promise<JobDatabase> {
    const { off } = this.#options;
    if (off !== undefined) throw new ProblemError('transcription-disabled', off);
    this.#giveUpIfLost();
    if (this.#obstacle === undefined && !this.#database) await this.#open();
    if (this.#database) return this.#database;
    throw new ProblemError('not-ready', this.#obstacle ?? '', { headers: { 'Retry-After': '30' } });
  }

  /**
   * Call this before the upload. Throws `transcription-disabled`, `not-ready`, `concurrency-limited` and `overloaded`.
   */
  async requirePlace(): Promise<void> {
    await this.#requireDatabase();
    this.#requireRoom(currentCaller());
  }

  /** Throws `concurrency-limited` and `overloaded`. */
  #requireRoom(caller: string): void {
    const [own, all] = [this.#holdings(caller), this.#holdings()];
    const headers = { 'Retry-After': '60' };
    if (own.unfinished >= maxUnfinished.ofCaller || own.count >= maxTotal.ofCaller) {
      const detail = `You have ${own.unfinished} unfinished transcriptions and ${own.count} in total; wait for one to finish, or delete one.`;
      throw new ProblemError('concurrency-limited', detail, { headers });
    }
    if (all.unfinished >= maxUnfinished.ofService || all.count >= maxTotal.ofService) {
      const detail = 'The service has too many transcriptions; try again later.';
      throw new ProblemError('overloaded', detail, { headers });
    }
  }

  /** Counts the jobs and uploads of one caller, or of all callers. */
  #holdings(caller?: string): { readonly count: number; readonly unfinished: number; readonly bytes: number } {
    const held = { count: 0, unfinished: 0, bytes: 0 };
    const add = (owner: string, account: SharedAccount, isOver = false) => {
      if (caller !== undefined && owner !== caller) return;
      held.count += 1;
      held.unfinished += isOver ? 0 : 1;
      held.bytes += account.bytes;
    };
    for (const { job, account } of this.#entries.values()) add(job.record.caller, account, job.isOver);
    for (const upload of this.#uploads.values()) add(upload.caller, upload.account);
    return held;
  }

  /**
   * Opens the folder of an upload, and reserves `declared` bytes. Throws `concurrency-limited`, `overloaded` and
   * `storage-full`.
   */
  async openUpload(declared: number | undefined): Promise<Upload> {
    const { disk, maxBytes, idPrefix = '' } = this.#options;
    const caller = currentCaller();
    this.#requireRoom(caller); // other uploads may have started since `requirePlace`; this one counts from here on
    const folder = this.#folderOf(`${idPrefix}${randomBytes(16).toString('base64url')}`);
    const account = disk.open({ holder });
    const take = (bytes: number) => {
      if (this.#holdings(caller).bytes + bytes > disk.bytes / 4) {
        throw new ProblemError(
          'storage-full',
          'Your transcriptions have used up their share of the disk; delete one or wait.',
        );
      }
      account.take(bytes);
    };
    this.#uploads.set(folder, { caller, account });
    const discard = async () => {
      if (this.#uploads.delete(folder)) await this.#clear(folder, account); // otherwise the upload was accepted
    };
    try {
      let reserved = Math.min(declared ?? 0, maxBytes);
      take(recordBytes + reserved);
      await mkdir(folder, { mode: 0o700 });
      return {
        path: folder,
        maxBytes,
        account: {
          take: (bytes) => {
            reserved -= bytes;
            if (reserved < 0) take(-reserved);
            reserved = Math.max(0, reserved);
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
   * Starts the job. Resolves once the recording and the row are on disk. The signal aborts if the caller disconnects
   * before the response is sent; the job is then removed.
   */
  async accept(
    { path, bytes, container }: Recording,
    { known, ...request }: NewJob,
    signal: AbortSignal,
    pace?: number,
  ): Promise<Job> {
    const folder = dirname(path);
    await flushFiles(folder);
    const database = await this.#requireDatabase();
    signal.throwIfAborted(); // the recording is removed when the request ends
    const upload = this.#uploads.get(folder);
    if (!upload) throw new Error('the recording is not an upload of a job');
    const { caller, account } = upload;
    const record: JobRecord = {
      ...{ id: basename(folder), caller, key: currentReader(), ...request, container, bytes, createdAt: Date.now() },
      ...{ status: 'queued', durationMs: null, endedAt: null, problem: null },
      known: known.map(({ name, sound }) => ({ name, file: basename(sound.wavPath), endMs: sound.endMs })),
    };
    const taken = account.bytes - recordBytes;
    if (taken < filesBytes(record)) account.take(filesBytes(record) - taken);
    database.insert(record);
    this.#uploads.delete(folder);
    account.release(account.bytes - recordBytes - filesBytes(record)); // the bytes reserved for the form itself
    const entry = this.#add(record, database, account);
    entry.job.pace = pace;
    onAbort(signal, () => this.#removeAfter(0, entry));
    this.#startNext(caller);
    return entry.job;
  }

  async #find(id: string, reader: JobReader): Promise<Job> {
    await this.#requireDatabase();
    const job = this.#entries.get(id)?.job;
    if (job?.record.key !== reader) throw notFound(id);
    return job;
  }

  /** Resolves with the job when it is over, or after `waitMs`. */
  async view(id: string, { reader, waitMs, signal }: ViewOptions): Promise<JobView> {
    let job = await this.#find(id, reader);
    if (waitMs > 0) {
      await job.waitForEnd(waitMs, signal);
      job = await this.#find(id, reader);
    }
    return job.view(this.#options.keepMs);
  }

  async events(
    id: string,
    { reader, ...following }: Following & { readonly reader: JobReader },
  ): Promise<AsyncIterable<TranscriptionEvent>> {
    return followJob(await this.#find(id, reader), following);
  }

  /**
   * Ends the job and resolves once its files are removed. Throws `storage-full` if the disk is too full to remove the
   * row.
   */
  async remove(id: string, reader: JobReader): Promise<void> {
    await this.#find(id, reader);
    await this.#remove(id);
  }

  /** The prefixes of job ids in a fleet: the tags of this front and of fronts that previously owned the directory. */
  get tags(): ReadonlySet<string> {
    return new Set([...this.#entries.keys()].flatMap((id) => /^(.+)\./.exec(id)?.[1] ?? []));
  }

  /** One sentence for each reason why jobs do not work, or do not work as expected. */
  get warnings(): string[] {
    const foreign =
      this.#foreign.length > 0 ? [`DATA_DIR/jobs contains foreign files: ${joinFirst(this.#foreign, 5)}.`] : [];
    return [...(this.#obstacle === undefined ? [] : [this.#obstacle]), ...foreign];
  }

  counts(): { readonly states: Readonly<Record<JobStatus, number>>; readonly bytes: number } {
    const states = { queued: 0, running: 0, completed: 0, failed: 0 };
    for (const { job } of this.#entries.values()) states[job.record.status] += 1;
    return { states, bytes: this.#holdings().bytes };
  }

  /** Aborts the parts in flight, which are repeated after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
    await this.#opening;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    for (const { expiry } of this.#entries.values()) clearTimeout(expiry);
    this.#database?.close();
    this.#database = undefined;
  }

  // ------------------------------------------------------------------------------------------------------- owner

  /** Never rejects. */
  #open(): Promise<void> {
    return (this.#opening ??= this.#tryToOpen().finally(() => (this.#opening = undefined)));
  }

  async #tryToOpen(): Promise<void> {
    const { directory, log, ownerMs } = this.#options;
    const before = this.#obstacle;
    try {
      const opened = await openJobDatabase(directory, (id) => this.#uploads.has(this.#folderOf(id)), log);
      if (opened) return this.#load(opened);
      this.#obstacle = 'Another service owns the transcriptions of this DATA_DIR; this one takes over when it stops.';
    } catch (error) {
      if (before === undefined) log.error({ err: error, directory }, 'transcription jobs are unavailable');
      this.#obstacle = `The directory of the transcriptions cannot be used: ${obstacleOf(error, directory)}.`;
    }
    if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => void this.#open(), ownerMs).unref();
  }

  /** Never throws, because nothing else would release the lock on the database. */
  #load({ database, foreign }: OpenedJobs): void {
    const { disk, log } = this.#options;
    for (const { record, bytes } of database.jobs) {
      const ofFiles = record.endedAt === null ? filesBytes(record) : 0;
      const account = disk.open({ holder, existing: recordBytes + bytes + ofFiles });
      const entry = this.#add(record, database, account);
      if (entry.job.isOver) this.#expireLater(entry);
    }
    this.#foreign = foreign;
    this.#obstacle = undefined;
    this.#database = database;
    if (this.#entries.size > 0) log.info({ jobs: this.#entries.size }, 'resuming transcription jobs');
    for (const caller of new Set([...this.#entries.values()].map(({ job }) => job.record.caller))) {
      this.#startNext(caller);
    }
  }

  /**
   * Gives up a database that was removed at run time; its jobs no longer exist. The next request creates a new
   * database, and sets the recordings aside.
   */
  #giveUpIfLost(): boolean {
    const database = this.#database;
    if (!database?.isLost) return false;
    this.#options.log.error({ directory: this.#options.directory }, 'the database of the transcriptions was removed');
    this.#database = undefined;
    for (const id of this.#entries.keys()) this.#track(this.#forget(id, { keepsFiles: true }));
    database.close();
    return true;
  }

  // -------------------------------------------------------------------------------------------------------- work

  #folderOf(id: string): string {
    return join(this.#options.directory, inRecordings(id));
  }

  #add(record: JobRecord, database: JobDatabase, account: SharedAccount): StoredJob {
    const job = new Job(record, recordingIn(this.#folderOf(record.id)), database, account);
    const entry = { job, account };
    this.#entries.set(job.id, entry);
    return entry;
  }

  /**
   * Only one job per caller runs at a time, because the parts of its other jobs would only wait behind the running one.
   */
  #startNext(caller: string): void {
    if (this.#closing.signal.aborted) return;
    const own = [...this.#entries.values()].filter(({ job }) => job.record.caller === caller && !job.isOver);
    own.forEach(({ job, working }, index) => {
      if (!working) job.ahead = index;
    });
    const [next] = own; // only the first job of a caller may be running
    if (!next || next.working) return;
    const link = linkedSignal(this.#closing.signal);
    const done = this.#run(next, link);
    next.working = { link, done };
    this.#track(done);
  }

  /** Retries if the end of the job cannot be stored, for example because the disk is full. */
  async #run(entry: StoredJob, link: LinkedSignal): Promise<void> {
    const { job } = entry;
    const { log, work } = this.#options;
    const { signal } = link;
    while (!link.signal.aborted && !job.isOver) {
      try {
        this.#finish(entry, await work(job, signal));
      } catch (error) {
        if (signal.aborted || this.#giveUpIfLost()) break;
        log.error({ id: job.record.requestId, err: error }, 'the end of a job could not be stored');
        await pause(writeRetryMs, signal).catch(() => undefined);
      }
    }
    link[Symbol.dispose]();
    delete entry.working;
    this.#startNext(job.record.caller);
  }

  #finish(entry: StoredJob, problem: JobRecord['problem']): void {
    const { job, account } = entry;
    job.update({ status: problem ? 'failed' : 'completed', problem, endedAt: Date.now() });
    const emptied = emptyFolder(this.#folderOf(job.id), this.#options.log);
    this.#track(emptied.then(() => account.release(filesBytes(job.record))));
    this.#expireLater(entry);
  }

  #expireLater(entry: StoredJob): void {
    // Ensures that the age is not negative, even if the clock was set back.
    const ageMs = Math.max(0, Date.now() - (entry.job.record.endedAt ?? 0));
    this.#removeAfter(Math.max(0, this.#options.keepMs - ageMs), entry);
  }

  /** Retries if the row cannot be removed, for example because the disk is full. */
  #removeAfter(ms: number, entry: StoredJob): void {
    const { id, requestId } = entry.job.record;
    const failed = (error: unknown) => {
      this.#options.log.error({ id: requestId, err: error }, 'a job could not be removed');
      this.#removeAfter(writeRetryMs, entry);
    };
    entry.expiry = startTimer(() => this.#track(this.#remove(id).catch(failed)), ms).unref();
  }

  async #remove(id: string): Promise<void> {
    if (this.#entries.has(id)) this.#database?.remove(id);
    await this.#forget(id);
  }

  /** Ends a job whose row is gone, and removes its files by default. */
  async #forget(id: string, { keepsFiles = false } = {}): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    clearTimeout(entry.expiry);
    entry.job.markRemoved();
    entry.working?.link.abort(notFound(id));
    await entry.working?.done;
    if (keepsFiles) entry.account[Symbol.dispose]();
    else await this.#clear(this.#folderOf(id), entry.account);
    this.#startNext(entry.job.record.caller);
  }

  async #clear(folder: string, account: SharedAccount): Promise<void> {
    await removeFiles(folder, this.#options.log);
    account[Symbol.dispose]();
  }

  #track(work: Promise<unknown>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work)).catch(() => undefined);
  }
}
