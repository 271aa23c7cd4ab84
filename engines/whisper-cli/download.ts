import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from '../contract/index.ts';
import { acquireLock } from './lock.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { pause } from '../../lib/pause.ts';
import { BrokenTransfer, requestTransfer, ResumeRefused, type Transfer } from './transfer.ts';

const MiB = 2 ** 20;

export interface Download {
  readonly url: string;
  /** Where the file appears once it is whole and its digest is right; until then its bytes are in `<to>.part`. */
  readonly to: string;
  /** Of the whole file, in hex. */
  readonly sha1: string;
  /** The most bytes to accept. */
  readonly maxBytes: number;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** From 0 to 1; null when the server does not say how much there is. */
  readonly progress: (fraction: number | null) => void;
  readonly log: Logger;
  readonly patience?: Patience;
}

/** How long to bear with a bad line; times in milliseconds. */
export interface Patience {
  /** Without a byte for this long, a transfer counts as broken. */
  readonly idleMs: number;
  /** Attempts in a row that may break without getting a MiB further than any before. */
  readonly attempts: number;
  /** The wait after the first of them; it doubles with each one that follows. */
  readonly firstWaitMs: number;
  /** The longest wait, also where the server asks for a longer one. */
  readonly longestWaitMs: number;
}

const defaultPatience: Patience = { idleMs: 30_000, attempts: 6, firstWaitMs: 1_000, longestWaitMs: 60_000 };

/**
 * Fetches a file over a line that may break: goes on where an earlier attempt, or an earlier process, stopped, and
 * puts the file in place in one step when its SHA-1 is right. Resolves without a request when it is there already.
 * Only one download per target runs at a time; the others wait for it.
 *
 * Rejects with an error that says what is wrong, or with the signal's reason. `<to>.part` then stays for the next
 * time, unless it is worthless.
 */
export async function download(job: Download): Promise<void> {
  await makeDirectory(dirname(job.to));
  await using _lock = await acquireLock(`${job.to}.lock`, job);
  if ((await inspect(job.to, job.signal)).sha1 === job.sha1) return;
  await completePart(job);
  await rename(partOf(job), job.to);
  await syncDirectory(dirname(job.to));
}

/** Tries until the partial file has the right digest. */
async function completePart(job: Download): Promise<void> {
  const { attempts, firstWaitMs, longestWaitMs } = patienceOf(job);
  let etag: string | undefined;
  let furthest = 0;
  let broken = 0;
  for (;;) {
    const part = await inspect(partOf(job), job.signal);
    if (part.sha1 === job.sha1) return;
    if (part.bytes >= furthest + MiB) {
      furthest = part.bytes;
      broken = 0;
    }
    try {
      using transfer = await requestTransfer({ ...job, offset: part.bytes, etag, idleMs: patienceOf(job).idleMs });
      etag = transfer.etag;
      return await receive(job, transfer, part);
    } catch (error) {
      if (error instanceof ResumeRefused) await rm(partOf(job), { force: true });
      if (!(error instanceof BrokenTransfer)) throw error;
      broken += 1;
      if (broken === attempts) throw giveUp(job, attempts, error);
      job.log.warn({ url: job.url, reason: error.message }, 'a download broke off and is tried again');
      const wait = error.retryAfterMs ?? firstWaitMs * 2 ** (broken - 1);
      await pause(Math.min(wait, longestWaitMs), job.signal);
    }
  }
}

/** Writes the transfer's bytes into the partial file and checks the whole of it. */
async function receive(job: Download, transfer: Transfer, part: Inspection): Promise<void> {
  const resumed = transfer.start > 0;
  const hash = resumed ? part.hash : createHash('sha1');
  const bytes = await write(job, transfer, hash);
  const sha1 = hash.digest('hex');
  if (sha1 === job.sha1) return;
  await rm(partOf(job));
  const found = `${bytes} bytes with the SHA-1 ${sha1}, expected ${job.sha1}`;
  // Its beginning may be of another version than its end: worth one more try, from the first byte on.
  if (resumed) throw new BrokenTransfer(`the resumed file was wrong: ${found}`);
  throw new Error(`${job.url} is not the file that was expected: ${found}; what came was deleted`);
}

/** Returns the length of the partial file in bytes. */
async function write(job: Download, transfer: Transfer, hash: Hash): Promise<number> {
  if (transfer.total !== undefined && transfer.total > job.maxBytes) throw tooLarge(job);
  let bytes = transfer.start;
  try {
    await using file = await open(partOf(job), bytes > 0 ? 'a' : 'w');
    for await (const chunk of transfer.chunks) {
      bytes += chunk.byteLength;
      if (bytes > job.maxBytes) throw tooLarge(job);
      await file.writeFile(chunk);
      hash.update(chunk);
      job.progress(transfer.total === undefined ? null : Math.min(1, bytes / transfer.total));
    }
    await file.sync();
    return bytes;
  } catch (error) {
    // Neither is worth keeping; least of all on a full disk, which the rest of the service needs too.
    if (bytes > job.maxBytes || isDiskFull(error)) await rm(partOf(job), { force: true });
    throw isDiskFull(error) ? diskFull(job, error) : error;
  }
}

interface Inspection {
  readonly bytes: number;
  /** Undefined when there is no byte. */
  readonly sha1: string | undefined;
  /** To go on with the bytes that follow. */
  readonly hash: Hash;
}

async function inspect(path: string, signal: AbortSignal): Promise<Inspection> {
  const hash = createHash('sha1');
  if ((await sizeOf(path)) === 0) return { bytes: 0, sha1: undefined, hash };
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: MiB }) as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, sha1: hash.copy().digest('hex'), hash };
}

/** 0 when there is no file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** A rename survives a power failure only when its directory is on the disk too. */
async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

function partOf(job: Download): string {
  return `${job.to}.part`;
}

function patienceOf(job: Download): Patience {
  return job.patience ?? defaultPatience;
}

function giveUp(job: Download, attempts: number, last: BrokenTransfer): Error {
  return new Error(`${job.url} cannot be downloaded: ${last.message}, after ${attempts} attempts`, { cause: last });
}

function tooLarge(job: Download): Error {
  return new Error(`${job.url} is not the file that was expected: it has more than ${job.maxBytes} bytes`);
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function diskFull(job: Download, cause: unknown): Error {
  const room = `${Math.ceil(job.maxBytes / MiB)} MiB`;
  return new Error(`the disk is full: ${basename(job.to)} needs ${room} in ${dirname(job.to)}`, { cause });
}
