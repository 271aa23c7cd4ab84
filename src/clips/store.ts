/**
 * The clips: audio that a chat has made, spooled to disk, to be fetched by whoever knows its id. A clip can be read
 * from its first byte on; one that goes, for whatever reason, takes its readers along.
 */
import { setMaxListeners } from 'node:events';
import { EngineError, type Logger, type TemporaryDirectory } from '../../engines/contract.ts';
import { follow, unlessAborted } from '../deadline.ts';
import { ProblemError } from '../problems.ts';
import type { Audio } from '../speech/speaker.ts';
import { StoredClip, type Clip, type ClipLimits } from './clip.ts';

export const standardLimits: ClipLimits = {
  keepMs: 10 * 60_000,
  // 32,000 characters are half an hour of English and more than four hours of Japanese: 745 MB as wav at 24 kHz.
  clipBytes: 1024 * 1024 * 1024,
  totalBytes: 2048 * 1024 * 1024,
  holdMs: 60_000,
};

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
  /**
   * The same bytes for one reader, at its own pace: an engine must not wait for a reader who does not read. Nobody can
   * find them, and nothing of them is left when the reader has come to the end or leaves. Rejects as `create` does.
   */
  spool(audio: Audio, { signal }: Pick<ClipOwner, 'signal'>): Promise<AsyncIterable<Uint8Array>>;
  find(id: string): Clip | undefined;
}

export interface ClipStoreOptions {
  /** A private directory for a clip, which removes it when disposed. */
  readonly directory: () => Promise<TemporaryDirectory>;
  readonly log: Logger;
  readonly limits?: ClipLimits;
}

interface Making {
  /** Aborts when the clip is given up. */
  readonly work: AbortSignal;
  readonly owner: AbortSignal;
  readonly tell: (error: unknown) => void;
}

export function createClipStore({ directory, log, limits = standardLimits }: ClipStoreOptions): ClipStore {
  /** The oldest first. */
  const clips = new Map<string, StoredClip>();
  const atWork = new Set<Promise<void>>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one for each clip that is being made

  return {
    create: (audio, { signal, id }) =>
      make(audio, signal, (error) => log.warn({ id, err: error }, 'the synthesis of a clip failed')),
    async spool(audio, { signal }) {
      const reading = new AbortController();
      const unfollow = follow(signal, reading);
      const end = () => {
        unfollow();
        reading.abort(new Error('nobody reads it any more'));
      };
      try {
        const clip = await make(audio, reading.signal, () => undefined); // its reader is told
        return readOnce(clip, reading.signal, end);
      } catch (error) {
        end();
        throw error;
      }
    },
    find: (id) => clips.get(id),
    async [Symbol.asyncDispose]() {
      closing.abort(new ProblemError('shutting-down', 'The service is shutting down.'));
      await Promise.allSettled(atWork);
      await Promise.allSettled([...clips.values()].map((clip) => drop(clip, closing.signal.reason as Error)));
      await Promise.allSettled(atWork);
    },
  };

  async function make(audio: Audio, signal: AbortSignal, tell: (error: unknown) => void): Promise<StoredClip> {
    const work = new AbortController();
    const stops = [follow(signal, work), follow(closing.signal, work)];
    const pieces = audio.audio[Symbol.asyncIterator]();
    const leave = () => {
      stops.forEach((stop) => stop());
      pieces.return?.().catch((error: unknown) => log.debug({ err: error }, 'an engine could not end its speech'));
    };
    let clip: StoredClip | undefined;
    try {
      work.signal.throwIfAborted();
      clip = await StoredClip.create(audio.mediaType, await directory(), limits, expire);
      clips.set(clip.id, clip);
      if (!(await takeNext(clip, pieces, work.signal))) {
        throw new EngineError('engine-failed', 'The engine made no sound of this text.');
      }
    } catch (error) {
      leave();
      if (clip) await drop(clip, error as Error);
      throw error;
    }
    const made = clip;
    const rest = takeAll(made, pieces, work.signal).finally(leave);
    track(finish(made, rest, { work: work.signal, owner: signal, tell }));
    return made;
  }

  async function finish(clip: StoredClip, rest: Promise<void>, { work, owner, tell }: Making): Promise<void> {
    try {
      await rest;
      await clip.complete();
      owner.throwIfAborted();
      owner.addEventListener('abort', () => track(drop(clip, givenUp())), { once: true });
    } catch (error) {
      const isGivenUp = work.aborted || owner.aborted;
      if (!isGivenUp) tell(error);
      // Why the chat was given up is no concern of the clip's readers.
      await drop(clip, isGivenUp ? givenUp() : (error as Error));
    }
  }

  async function takeAll(clip: StoredClip, pieces: AsyncIterator<Uint8Array>, signal: AbortSignal): Promise<void> {
    while (await takeNext(clip, pieces, signal));
  }

  /** False when there is no more. */
  async function takeNext(clip: StoredClip, pieces: AsyncIterator<Uint8Array>, signal: AbortSignal): Promise<boolean> {
    const item = await unlessAborted(pieces.next(), signal);
    if (item.done) return false;
    await makeRoom(clip, item.value.length);
    await clip.append(item.value);
    return true;
  }

  async function makeRoom(clip: StoredClip, more: number): Promise<void> {
    if (clip.bytes + more > limits.clipBytes) {
      throw new ProblemError('storage-full', `A clip may have at most ${limits.clipBytes} bytes.`);
    }
    for (;;) {
      const total = [...clips.values()].reduce((sum, { bytes }) => sum + bytes, 0);
      if (total + more <= limits.totalBytes) return;
      const oldest = [...clips.values()].find(({ idle }) => idle) ?? [...clips.values()].find(({ whole }) => whole);
      if (!oldest) throw new ProblemError('storage-full', 'The service has no room for further clips now.');
      await drop(oldest, new ProblemError('storage-full', 'The sound has made room for others.'));
    }
  }

  function expire(clip: StoredClip): void {
    track(drop(clip, new ProblemError('clip-not-found', 'The time of the clip is over.')));
  }

  async function drop(clip: StoredClip, failure: Error): Promise<void> {
    clips.delete(clip.id);
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

async function* readOnce(clip: Clip, signal: AbortSignal, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* clip.read({ first: 0 }, signal);
  } finally {
    end();
  }
}
