/**
 * Adds timeouts to a synthesis, for its first bytes and for every later chunk, and makes the synthesis abortable at any
 * time.
 */
import { setImmediate } from 'node:timers/promises';
import { EngineError, type Speech } from '../../engines/contract/index.ts';
import { linkedSignal, onAbort } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';

/** Timeouts in milliseconds. */
export interface SpeechTimeouts {
  /** Timeout for the first bytes. It is long because wav arrives as a whole and an engine's queue may be long. */
  readonly firstBytesMs: number;
  /** Idle timeout between two chunks. It runs only while a chunk is being requested. */
  readonly silenceMs: number;
}

export interface Listener {
  /** Aborts the synthesis at any time. */
  readonly signal: AbortSignal;
  /** Aborts the synthesis only until the first bytes arrive. */
  readonly waiting?: AbortSignal;
}

/**
 * Resolves once bytes arrive. `return()` of the audio's iterator and an abort stop the engine immediately, even in the
 * middle of a chunk.
 */
export async function withTimeouts<S extends Speech>(
  synthesize: (signal: AbortSignal) => Promise<S>,
  { signal, waiting }: Listener,
  { firstBytesMs, silenceMs }: SpeechTimeouts,
): Promise<S> {
  const work = linkedSignal(signal);
  const stopWaiting = waiting && onAbort(waiting, (reason) => work.abort(reason));
  const within = async <T>(ms: number, what: string, job: Promise<T>): Promise<T> => {
    let late: EngineError | undefined;
    const expire = () => (late = new EngineError('engine-timeout', `${what} within ${String(ms / 1000)} s.`));
    try {
      return await work.within(ms, expire, job);
    } catch (error) {
      throw late !== undefined && error === late ? await overloadedOr(late, job) : error;
    }
  };
  const end = (reason: unknown) => {
    work.end(reason);
  };

  async function begin() {
    work.signal.throwIfAborted();
    const speech = await synthesize(work.signal);
    const source = speech.audio[Symbol.asyncIterator]();
    // If already aborted, this runs immediately, because the engine may hold files by now.
    onAbort(work.signal, () => void source.return?.().catch(ignore)); // the result of `return()` is unused
    let first = await source.next();
    while (!first.done && first.value.length === 0) first = await source.next();
    return { speech, source, first };
  }

  try {
    const { speech, source, first } = await within(firstBytesMs, 'The engine returned no audio', begin());
    if (first.done) throw new EngineError('engine-failed', 'The engine returned no audio for this text.');
    return { ...speech, audio: continued(first, source) };
  } catch (error) {
    end(error);
    throw error;
  } finally {
    stopWaiting?.();
  }

  /** Not a generator, because its `return()` would wait for the pending chunk. */
  function continued(
    first: IteratorResult<Uint8Array>,
    source: AsyncIterator<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array> {
    const done = { done: true, value: undefined } as const;
    let held: IteratorResult<Uint8Array> | undefined = first;
    let ended = false;
    const stop = (reason: unknown) => {
      ended = true;
      held = undefined;
      end(reason);
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        if (ended) return done;
        try {
          work.signal.throwIfAborted();
          const item = held ?? (await within(silenceMs, 'The engine returned no further audio', source.next()));
          held = undefined;
          if (!item.done) return item;
          ended = true;
          work[Symbol.dispose]();
          return done;
        } catch (error) {
          stop(error);
          throw error;
        }
      },
      return() {
        if (!ended) stop(new Error('the audio is no longer consumed'));
        return Promise.resolve(done);
      },
    };
  }
}

/** On timeout, prefer the engine's own `overloaded` if it arrives within this turn of the event loop. */
function overloadedOr(late: EngineError, outcome: Promise<unknown>): Promise<unknown> {
  const isOverloaded = (error: unknown) => EngineError.is(error) && error.code === 'overloaded';
  const error = outcome.then(
    () => late,
    (error: unknown) => (isOverloaded(error) ? error : late),
  );
  return Promise.race([error, setImmediate(late)]);
}
