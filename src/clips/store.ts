/**
 * The clips: audio that a chat has made, spooled to disk, to be fetched by whoever knows its id. A clip can be read
 * from its first byte on; one that goes, for whatever reason, takes its readers along.
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

/** By the disk budget: clips take half of it at most, and one clip half of that. */
export function clipLimits(diskBytes: number): ClipLimits {
  const clipBytes = largestSpeech(diskBytes);
  return { keepMs: 10 * 60_000, stallMs: 10_000, clipBytes, totalBytes: 2 * clipBytes, holdMs: 60_000 };
}

export interface ClipOwner {
  /** What it aborts is gone at once, made to its end or not. */
  readonly signal: AbortSignal;
  /** The request, for the log. */
  readonly id: string;
}

export interface ClipStore extends AsyncDisposable {
  /**
   * Resolves once the clip can be heard; the rest is spooled as fast as it comes. Throws `storage-full`, or why the
   * audio fails before its first byte.
   */
  create(audio: Audio, owner: ClipOwner): Promise<Clip>;
  find(id: string): Clip | undefined;
}

export interface ClipStoreOptions {
  /** A private directory for a clip, which removes it when disposed. */
  readonly directory: () => Promise<AccountedDirectory>;
  readonly log: Logger;
  readonly limits: ClipLimits;
}

interface Making {
  /** Resolves when everything is stored. */
  readonly rest: Promise<void>;
  /** Aborts when the clip is given up. */
  readonly work: AbortSignal;
  readonly owner: ClipOwner;
}

export function createClipStore({ directory, log, limits }: ClipStoreOptions): ClipStore {
  const clips = new Map<string, StoredClip>();
  const room = new ClipRoom(limits, (clip) =>
    drop(clip, new ProblemError('storage-full', 'The clip was evicted to make room for others.')),
  );
  const atWork = new Set<Promise<void>>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one for each clip that is being made

  return {
    create: make,
    find: (id) => clips.get(id),
    async [Symbol.asyncDispose]() {
      closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
      await Promise.allSettled(atWork);
      await Promise.allSettled([...clips.values()].map((clip) => drop(clip, closing.signal.reason as Error)));
      await Promise.allSettled(atWork);
    },
  };

  async function make(audio: Audio, owner: ClipOwner): Promise<StoredClip> {
    const work = linkedSignal(owner.signal, closing.signal);
    const pump = createPump(audio.audio, {
      signal: work.signal,
      onStopFailure: (error) => log.debug({ err: error }, 'an engine could not end its speech'),
    });
    const leave = () => {
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
      leave();
      if (clip) await drop(clip, error as Error);
      throw error;
    }
    const rest = pump.finish(storeIn(clip)).finally(leave);
    track(finish(clip, { rest, work: work.signal, owner }));
    return clip;
  }

  async function finish(clip: StoredClip, { rest, work, owner: { signal, id } }: Making): Promise<void> {
    try {
      await rest;
      await clip.complete();
      room.complete(clip);
      signal.throwIfAborted();
      signal.addEventListener('abort', () => track(drop(clip, givenUp())), { once: true });
    } catch (error) {
      const isGivenUp = work.aborted || signal.aborted;
      if (!isGivenUp) log.warn({ id, err: error }, 'the synthesis of a clip failed');
      // Why the chat was given up is no concern of the clip's readers.
      await drop(clip, isGivenUp ? givenUp() : (error as Error));
    }
  }

  function storeIn(clip: StoredClip): (piece: Uint8Array) => Promise<void> {
    return async (piece) => {
      await room.take(clip, piece.length);
      await clip.append(piece);
    };
  }

  function expire(clip: StoredClip): void {
    track(drop(clip, new ProblemError('clip-not-found', 'The time of the clip is over.')));
  }

  async function drop(clip: StoredClip, failure: Error): Promise<void> {
    clips.delete(clip.id);
    room.delete(clip);
    await clip
      .discard(failure)
      .catch((error: unknown) => log.error({ err: error }, 'the file of a clip could not be removed'));
  }

  function track(work: Promise<void>): void {
    atWork.add(work);
    void work.finally(() => atWork.delete(work));
  }
}

function givenUp(): ProblemError {
  return new ProblemError('clip-not-found', 'The clip was given up.');
}
