/**
 * Stores clips: audio spooled to disk and readable by anyone who has the id. A clip can be read while it is being
 * written. Removing it, for any reason, fails its readers.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from '../../engines/contract/index.ts';
import { currentCaller } from '../request-scope.ts';
import { type LinkedSignal, linkedSignal, reasonOf } from '../../lib/abort.ts';
import { largestSpeech } from '../system/disk-budget.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import type { Audio } from '../contract/audio.ts';
import { ProblemError } from '../contract/problems.ts';
import { StoredClip, type Clip, type ClipLimits } from './clip.ts';
import { createPump } from './pump.ts';
import { ClipQuota } from './clip-quota.ts';

/** Derives the limits from the disk budget: clips take at most half of it, and a single clip at most half of that. */
export function clipLimits(diskBytes: number): Omit<ClipLimits, 'keepMs' | 'unreadMs'> {
  const clipBytes = largestSpeech(diskBytes);
  return { stallMs: 10_000, holdMs: 60_000, clipBytes, totalBytes: 2 * clipBytes };
}

export interface ClipOwner {
  /** Aborting this signal removes the clip immediately, whether complete or not. */
  readonly signal: AbortSignal;
  /** The request id, for the log. */
  readonly id: string;
  /** Whether the synthesis ends when no one reads the clip for `unreadMs`. */
  readonly endsUnread?: boolean;
}

/** The clips that requests can access. */
export interface Clips {
  /**
   * Resolves once the first bytes are stored; the rest is spooled as it arrives. Throws `storage-full`, or the error of
   * the audio if the synthesis fails before the first byte.
   */
  create(audio: Audio, owner: ClipOwner): Promise<Clip>;
  find(id: string): Clip | undefined;
  /**
   * Ends the synthesis and all readers. Resolves with true when the file has been removed; with false if the clip does
   * not exist.
   */
  remove(id: string): Promise<boolean>;
}

export interface ClipStore extends Clips, AsyncDisposable {
  /** Returns the current number of clips and their total size. */
  size(): { readonly count: number; readonly bytes: number };
}

export interface ClipStoreOptions {
  /** Creates a private directory for a clip, which is removed on disposal. */
  readonly directory: () => Promise<AccountedDirectory>;
  readonly log: Logger;
  readonly limits: ClipLimits;
  /** Prefix of every id. */
  readonly idPrefix?: string | undefined;
}

interface Spooling {
  /** Resolves when all audio is stored. */
  readonly rest: Promise<void>;
  /** Aborts when the synthesis of the clip is canceled. */
  readonly work: AbortSignal;
  readonly owner: ClipOwner;
}

export function createClipStore({ directory, log, limits, idPrefix = '' }: ClipStoreOptions): ClipStore {
  const clips = new Map<string, StoredClip>();
  const quota = new ClipQuota(limits, (clip) =>
    drop(clip, new ProblemError('storage-full', 'The clip was evicted to make room for others.')),
  );
  /** Signals of the synthesis of incomplete clips. */
  const working = new Map<StoredClip, LinkedSignal>();
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener per clip in progress

  return {
    create,
    find: (id) => clips.get(id),
    size: () => ({ count: clips.size, bytes: quota.bytes }),
    async remove(id) {
      const clip = clips.get(id);
      if (clip) await end(clip, canceled());
      return clip !== undefined;
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
      await Promise.allSettled(pending);
      await Promise.allSettled([...clips.values()].map((clip) => drop(clip, reasonOf(closing.signal))));
      await Promise.allSettled(pending);
    },
  };

  async function create(audio: Audio, owner: ClipOwner): Promise<StoredClip> {
    const work = linkedSignal(owner.signal, closing.signal);
    const pump = createPump(audio.audio, {
      signal: work.signal,
      onStopFailure: (error) => log.debug({ err: error }, 'an engine failed to stop its synthesis'),
    });
    let clip: StoredClip | undefined;
    const release = () => {
      if (clip) working.delete(clip);
      work[Symbol.dispose]();
      pump.stop();
    };
    try {
      work.signal.throwIfAborted();
      const { mediaType } = audio;
      clip = await StoredClip.create({
        id: `${idPrefix}${randomBytes(16).toString('base64url')}`,
        caller: currentCaller(),
        mediaType,
        directory: await directory(),
        limits,
        expire,
      });
      clips.set(clip.id, clip);
      working.set(clip, work);
      quota.add(clip);
      await pump.start(storeIn(clip));
    } catch (error) {
      release();
      if (clip) await drop(clip, error as Error);
      throw error;
    }
    const rest = pump.finish(storeIn(clip)).finally(release);
    track(finish(clip, { rest, work: work.signal, owner }));
    if (owner.endsUnread) clip.watchReaders(() => work.abort(unread));
    return clip;
  }

  async function finish(clip: StoredClip, { rest, work, owner: { signal, id } }: Spooling): Promise<void> {
    try {
      await rest;
      await clip.complete();
      quota.complete(clip);
      signal.throwIfAborted();
      signal.addEventListener('abort', () => track(drop(clip, canceled())), { once: true });
    } catch (error) {
      const isCanceled = work.aborted || signal.aborted;
      if (!isCanceled) log.warn({ id, err: error }, 'the synthesis of a clip failed');
      // The reason why the chat was aborted must not reach readers of the clip.
      await drop(clip, isCanceled ? canceled() : (error as Error));
    }
  }

  function storeIn(clip: StoredClip): (piece: Uint8Array) => Promise<void> {
    return async (piece) => {
      await quota.take(clip, piece.length);
      await clip.append(piece);
    };
  }

  function expire(clip: StoredClip): void {
    track(drop(clip, new ProblemError('clip-not-found', 'The clip has expired.')));
  }

  function drop(clip: StoredClip, failure: Error): Promise<void> {
    return end(clip, failure).catch((error: unknown) =>
      log.error({ err: error }, 'failed to remove the file of a clip'),
    );
  }

  async function end(clip: StoredClip, failure: Error): Promise<void> {
    clips.delete(clip.id);
    quota.delete(clip);
    working.get(clip)?.abort(failure);
    await clip.discard(failure);
  }

  function track(work: Promise<void>): void {
    pending.add(work);
    void work.finally(() => pending.delete(work));
  }
}

/** The failure of a clip without readers, so no reader ever receives it. */
const unread = new Error('the clip had no reader');

function canceled(): ProblemError {
  return new ProblemError('clip-not-found', 'The clip was canceled.');
}
