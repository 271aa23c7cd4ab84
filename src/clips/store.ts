/**
 * Stores clips: audio from chats, spooled to disk and readable by anyone with the id. A clip can be read while it is
 * still being written; removing it, for any reason, fails its readers.
 */
import { setMaxListeners } from 'node:events';
import type { Logger } from '../../engines/contract/index.ts';
import { currentCaller } from '../caller.ts';
import { linkedSignal } from '../../lib/abort.ts';
import { largestSpeech } from '../system/disk-budget.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Audio } from '../speech/speaker.ts';
import { StoredClip, type Clip, type ClipLimits } from './clip.ts';
import { createPump } from './pump.ts';
import { ClipRoom } from './room.ts';

/** Derived from the disk budget: clips take at most half of it, and a single clip half of that. */
export function clipLimits(diskBytes: number): ClipLimits {
  const clipBytes = largestSpeech(diskBytes);
  return { keepMs: 10 * 60_000, stallMs: 10_000, clipBytes, totalBytes: 2 * clipBytes, holdMs: 60_000 };
}

export interface ClipOwner {
  /** Its abort removes the clip immediately, complete or not. */
  readonly signal: AbortSignal;
  /** The request id, for the log. */
  readonly id: string;
}

export interface ClipStore extends AsyncDisposable {
  /**
   * Resolves with the first bytes; the rest is spooled as fast as it arrives. Throws `storage-full`, or the error of the
   * audio if it fails before its first byte.
   */
  create(audio: Audio, owner: ClipOwner): Promise<Clip>;
  find(id: string): Clip | undefined;
}

export interface ClipStoreOptions {
  /** Creates a private directory for a clip, removed on dispose. */
  readonly directory: () => Promise<AccountedDirectory>;
  readonly log: Logger;
  readonly limits: ClipLimits;
}

interface Spooling {
  /** Resolves when all audio is stored. */
  readonly rest: Promise<void>;
  /** Aborts when the clip is cancelled. */
  readonly work: AbortSignal;
  readonly owner: ClipOwner;
}

export function createClipStore({ directory, log, limits }: ClipStoreOptions): ClipStore {
  const clips = new Map<string, StoredClip>();
  const room = new ClipRoom(limits, (clip) =>
    drop(clip, new ProblemError('storage-full', 'The clip was evicted to make room for others.')),
  );
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener per clip in progress

  return {
    create,
    find: (id) => clips.get(id),
    async [Symbol.asyncDispose]() {
      closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
      await Promise.allSettled(pending);
      await Promise.allSettled([...clips.values()].map((clip) => drop(clip, closing.signal.reason as Error)));
      await Promise.allSettled(pending);
    },
  };

  async function create(audio: Audio, owner: ClipOwner): Promise<StoredClip> {
    const work = linkedSignal(owner.signal, closing.signal);
    const pump = createPump(audio.audio, {
      signal: work.signal,
      onStopFailure: (error) => log.debug({ err: error }, 'an engine failed to stop its synthesis'),
    });
    const release = () => {
      work[Symbol.dispose]();
      pump.stop();
    };
    let clip: StoredClip | undefined;
    try {
      work.signal.throwIfAborted();
      const { mediaType } = audio;
      clip = await StoredClip.create({
        caller: currentCaller(),
        mediaType,
        directory: await directory(),
        limits,
        expire,
      });
      clips.set(clip.id, clip);
      room.add(clip);
      await pump.start(storeIn(clip));
    } catch (error) {
      release();
      if (clip) await drop(clip, error as Error);
      throw error;
    }
    const rest = pump.finish(storeIn(clip)).finally(release);
    track(finish(clip, { rest, work: work.signal, owner }));
    return clip;
  }

  async function finish(clip: StoredClip, { rest, work, owner: { signal, id } }: Spooling): Promise<void> {
    try {
      await rest;
      await clip.complete();
      room.complete(clip);
      signal.throwIfAborted();
      signal.addEventListener('abort', () => track(drop(clip, cancelled())), { once: true });
    } catch (error) {
      const isCancelled = work.aborted || signal.aborted;
      if (!isCancelled) log.warn({ id, err: error }, 'the synthesis of a clip failed');
      // Readers of the clip do not see why the chat was aborted.
      await drop(clip, isCancelled ? cancelled() : (error as Error));
    }
  }

  function storeIn(clip: StoredClip): (piece: Uint8Array) => Promise<void> {
    return async (piece) => {
      await room.take(clip, piece.length);
      await clip.append(piece);
    };
  }

  function expire(clip: StoredClip): void {
    track(drop(clip, new ProblemError('clip-not-found', 'The clip has expired.')));
  }

  async function drop(clip: StoredClip, failure: Error): Promise<void> {
    clips.delete(clip.id);
    room.delete(clip);
    await clip
      .discard(failure)
      .catch((error: unknown) => log.error({ err: error }, 'failed to remove the file of a clip'));
  }

  function track(work: Promise<void>): void {
    pending.add(work);
    void work.finally(() => pending.delete(work));
  }
}

function cancelled(): ProblemError {
  return new ProblemError('clip-not-found', 'The clip was cancelled.');
}
