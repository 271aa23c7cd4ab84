import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { EngineContext } from '../../../engines/contract/index.ts';
import { pause } from '../../../lib/abort.ts';
import { acquireLock, lockOf } from '../../../lib/file-lock.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { megabytes } from '../../../lib/megabytes.ts';
import { TransferError, requestTransfer, ResumeRejected, type Transfer } from './transfer.ts';
import { errnoOf } from '../../../lib/errors.ts';
import { openRegularFile } from '../../../lib/regular-file.ts';
import { isDiskFull } from '../../../lib/resource-limits.ts';

const MiB = 2 ** 20;

export interface Download extends Pick<EngineContext, 'fetch' | 'log'> {
  readonly url: string;
  /** Target path. The file appears there once it is complete and verified; until then the bytes are in `<to>.part`. */
  readonly to: string;
  /**
   * MD5, SHA-1 or SHA-256 of the complete file in hex, whichever upstream publishes. The length of the digest
   * identifies the algorithm.
   */
  readonly digest: string;
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Reports the completed fraction, from 0 to 1, or null if the server does not send the length. */
  readonly progress: (fraction: number | null) => void;
  /** Called if another process or call is already downloading the file. */
  readonly onWait?: () => void;
  /** Called if the download was interrupted and will be retried after a delay. */
  readonly onRetry?: (reason: string) => void;
  readonly retry?: RetryPolicy;
}

const defaultRetry = {
  /** Idle timeout of a transfer. */
  idleMs: 30_000,
  /** Maximum number of consecutive failed attempts. A MiB of progress resets the count. */
  attempts: 6,
  /** Delay after the first failed attempt. It doubles with each further failure. */
  firstDelayMs: 1_000,
  /** Maximum delay; also limits Retry-After. */
  maxDelayMs: 60_000,
};

export type RetryPolicy = Readonly<typeof defaultRetry>;

/**
 * Downloads a file over an unreliable connection: resumes where an earlier attempt or an earlier process stopped, and
 * renames the file into place when its digest is correct. Resolves with false, without a request, if the file already
 * exists and its digest is correct. Only one download runs per target; concurrent calls wait for it.
 *
 * Rejects with an error that states the problem, or with the signal's reason. `<to>.part` is then kept for the next
 * attempt if it can be resumed.
 */
export async function download(wanted: Download): Promise<boolean> {
  await makeDirectory(dirname(wanted.to));
  using _lock = await acquireLock(lockOf(wanted.to), wanted);
  if ((await inspect(wanted.to, wanted)).digest === wanted.digest) return false;
  await completePart(wanted);
  await rename(partOf(wanted), wanted.to);
  await syncDirectory(dirname(wanted.to));
  return true;
}

/** Retries until the partial file has the expected digest, or too many attempts have failed. */
async function completePart(wanted: Download): Promise<void> {
  const { idleMs, attempts, firstDelayMs, maxDelayMs } = wanted.retry ?? defaultRetry;
  let etag: string | undefined;
  let furthest = 0;
  let failed = 0;
  for (;;) {
    const part = await inspect(partOf(wanted), wanted);
    if (part.digest === wanted.digest) return;
    if (part.bytes >= furthest + MiB) {
      furthest = part.bytes;
      failed = 0;
    }
    try {
      using transfer = await requestTransfer({ ...wanted, offset: part.bytes, etag, idleMs });
      etag = transfer.etag;
      return await receive(wanted, transfer, part);
    } catch (error) {
      if (error instanceof ResumeRejected) await rm(partOf(wanted), { force: true });
      if (!(error instanceof TransferError)) throw error;
      failed += 1;
      if (failed === attempts) throw giveUp(wanted, attempts, error);
      wanted.onRetry?.(error.message);
      wanted.log.warn({ url: wanted.url, reason: error.message }, 'a download was interrupted, retrying');
      const { retryAfter } = error;
      const delayMs = retryAfter === undefined ? firstDelayMs * 2 ** (failed - 1) : retryAfter * 1000;
      await pause(Math.min(delayMs, maxDelayMs), wanted.signal);
    }
  }
}

/** Writes the transfer into the partial file and verifies the complete file. */
async function receive(wanted: Download, transfer: Transfer, part: Inspection): Promise<void> {
  const resumed = transfer.start > 0;
  const hash = resumed ? part.hash : createHash(algorithmOf(wanted));
  const bytes = await write(wanted, transfer, hash);
  const digest = hash.digest('hex');
  if (digest === wanted.digest) return;
  await rm(partOf(wanted));
  const found = `${bytes} bytes with the ${algorithmOf(wanted).toUpperCase()} ${digest}, expected ${wanted.digest}`;
  // The partial file may come from another version of the file: retry from the first byte.
  if (resumed) throw new TransferError(`wrong checksum after resuming: ${found}`);
  throw new Error(`${wanted.url} is not the expected file: ${found}; the download was deleted`);
}

/** Returns the length of the partial file in bytes. */
async function write(wanted: Download, transfer: Transfer, hash: Hash): Promise<number> {
  if (transfer.total !== undefined && transfer.total > wanted.maxBytes) throw tooLarge(wanted);
  let bytes = transfer.start;
  try {
    await using file = await openRegularFile(partOf(wanted), bytes > 0 ? 'append' : 'write');
    for await (const chunk of transfer.chunks) {
      bytes += chunk.byteLength;
      if (bytes > wanted.maxBytes) throw tooLarge(wanted);
      await file.writeFile(chunk);
      hash.update(chunk);
      wanted.progress(transfer.total === undefined ? null : Math.min(1, bytes / transfer.total));
    }
    await file.sync();
    return bytes;
  } catch (error) {
    // A file that is too large cannot be resumed, and on a full disk the rest of the service needs the space.
    if (bytes > wanted.maxBytes || isDiskFull(error)) await rm(partOf(wanted), { force: true });
    throw isDiskFull(error) ? diskFull(wanted, error) : error;
  }
}

const algorithms: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha-1', 64: 'sha-256' };

function algorithmOf({ digest }: Pick<Download, 'digest'>): string {
  const algorithm = algorithms[digest.length];
  if (algorithm === undefined) throw new TypeError(`${digest} is not an MD5, SHA-1 or SHA-256 digest`);
  return algorithm;
}

interface Inspection {
  readonly bytes: number;
  /** Digest of the file; undefined if the file does not exist or is empty. */
  readonly digest: string | undefined;
  /** Hash state after these bytes, to continue with the next ones. */
  readonly hash: Hash;
}

async function inspect(path: string, wanted: Pick<Download, 'digest' | 'signal'>): Promise<Inspection> {
  const hash = createHash(algorithmOf(wanted));
  if ((await sizeOf(path)) === 0) return { bytes: 0, digest: undefined, hash };
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: MiB }) as AsyncIterable<Buffer>) {
    wanted.signal.throwIfAborted();
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, digest: hash.copy().digest('hex'), hash };
}

/** Returns 0 if the file does not exist. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** A rename survives a power failure only if the directory is synced too. */
async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

function partOf(wanted: Download): string {
  return `${wanted.to}.part`;
}

function giveUp(wanted: Download, attempts: number, last: TransferError): Error {
  return new Error(`${wanted.url} cannot be downloaded: ${last.message}, after ${attempts} attempts`, { cause: last });
}

function tooLarge(wanted: Download): Error {
  return new Error(`${wanted.url} is not the expected file: it has more than ${wanted.maxBytes} bytes`);
}

function diskFull(wanted: Download, cause: unknown): Error {
  return new Error(`disk full: ${basename(wanted.to)} needs ${megabytes(wanted.maxBytes)} in ${dirname(wanted.to)}`, {
    cause,
  });
}
