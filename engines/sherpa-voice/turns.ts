/** Speeches take turns, a piece each: nobody waits for the end of a book, or for a slow reader. */
import { EngineError, type JobQueue } from '../contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** A speech that has begun is not refused when the queue is full: it waits for room. */
  readonly hasBegun: boolean;
}

export function createTurns(queue: JobQueue) {
  let room = Promise.withResolvers<undefined>();

  function leave(): void {
    room.resolve(undefined);
    room = Promise.withResolvers();
  }

  return async function takeTurn<T>(job: () => Promise<T>, { signal, hasBegun }: TurnOptions): Promise<T> {
    for (;;) {
      const turn = { hasBegun: false };
      try {
        const done = await queue.run(() => ((turn.hasBegun = true), job()), { signal });
        leave();
        return done;
      } catch (error) {
        const isRefused = !turn.hasBegun && EngineError.is(error) && error.code === 'overloaded';
        if (!isRefused) leave();
        if (!isRefused || !hasBegun) throw error;
      }
      await raceAbort(room.promise, signal);
    }
  };
}
