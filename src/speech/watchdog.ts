/** A synthesis that cannot hang: deadlines for its first bytes and for every wait after them, and an end at any moment. */
import { setImmediate } from 'node:timers/promises';
import { EngineError, type Speech } from '../../engines/contract/index.ts';
import { linkedSignal, onAbort } from '../../lib/abort.ts';

/** In milliseconds. */
export interface SpeechLimits {
  /** Until the first bytes: wav comes as a whole, and an engine's queue may be long. */
  readonly firstBytesMs: number;
  /** Between two pieces, while somebody waits for the next one. */
  readonly silenceMs: number;
}

export interface Listener {
  /** Ends the synthesis, whenever it aborts. */
  readonly signal: AbortSignal;
  /** Ends it only until the first bytes are there. */
  readonly waiting?: AbortSignal;
}

/**
 * Resolves once the first bytes are there. `return()` of the audio's iterator, and a signal, end the engine's work at
 * once, even if it is in the middle of a piece.
 */
export async function supervise<S extends Speech>(
  synthesize: (signal: AbortSignal) => Promise<S>,
  { signal, waiting }: Listener,
  { firstBytesMs, silenceMs }: SpeechLimits,
): Promise<S> {
  const work = linkedSignal(signal);
  const stopWaiting = waiting && onAbort(waiting, work.abort);
  const within = async <T>(ms: number, what: string, job: Promise<T>): Promise<T> => {
    let late: EngineError | undefined;
    const expire = () => (late = new EngineError('engine-timeout', `${what} within ${String(ms / 1000)} s.`));
    try {
      return await work.within(ms, expire, job);
    } catch (error) {
      throw late !== undefined && error === late ? await lastWord(job, late) : error;
    }
  };
  const end = (reason: unknown) => {
    work[Symbol.dispose]();
    work.abort(reason);
  };

  async function begin() {
    work.signal.throwIfAborted();
    const speech = await synthesize(work.signal);
    const source = speech.audio[Symbol.asyncIterator]();
    // At once, when the caller has left meanwhile: by now the engine may hold files.
    onAbort(work.signal, () => void source.return?.().catch(ignore));
    let first = await source.next();
    while (!first.done && first.value.length === 0) first = await source.next();
    return { speech, source, first };
  }

  try {
    const { speech, source, first } = await within(firstBytesMs, 'The speech did not begin', begin());
    if (first.done) throw new EngineError('engine-failed', 'The engine made no sound of this text.');
    return { ...speech, audio: continued(first, source) };
  } catch (error) {
    end(error);
    throw error;
  } finally {
    stopWaiting?.();
  }

  /** By hand: `return()` of a generator would wait for the piece that it waits for itself. */
  function continued(
    first: IteratorResult<Uint8Array>,
    source: AsyncIterator<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array> {
    const done = { done: true, value: undefined } as const;
    let held: IteratorResult<Uint8Array> | undefined = first;
    let ended = false;
    const leave = (reason: unknown) => {
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
          const item = held ?? (await within(silenceMs, 'The speech did not go on', source.next()));
          held = undefined;
          if (!item.done) return item;
          ended = true;
          work[Symbol.dispose]();
          return done;
        } catch (error) {
          leave(error);
          throw error;
        }
      },
      return() {
        if (!ended) leave(new Error('nobody listens any more'));
        return Promise.resolve(done);
      },
    };
  }
}

function ignore(): void {
  // The abort has ended the work; nobody waits for what its iterator answers.
}

/** Of an engine that was late: it may say, at once, that it has been at work for others all the time. */
function lastWord(outcome: Promise<unknown>, late: EngineError): Promise<unknown> {
  const isWaiting = (error: unknown) => EngineError.is(error) && error.code === 'overloaded';
  const said = outcome.then(
    () => late,
    (error: unknown) => (isWaiting(error) ? error : late),
  );
  return Promise.race([said, setImmediate(late)]);
}
