/** Queues the pieces of all speeches, so that no speech waits for the end of a long one or for a slow reader. */
import { EngineError, type CallQueue } from '../contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';

export interface PieceOptions {
  readonly signal: AbortSignal;
  /** When the queue is full, a synthesis that has begun waits for room; one that has not begun is rejected. */
  readonly hasBegun: boolean;
}

export function createPieceQueue(queue: CallQueue) {
  let room = Promise.withResolvers<undefined>();

  function leave(): void {
    room.resolve(undefined);
    room = Promise.withResolvers();
  }

  return async function runPiece<T>(piece: () => Promise<T>, { signal, hasBegun }: PieceOptions): Promise<T> {
    for (;;) {
      const work = { hasBegun: false };
      try {
        const done = await queue.run(() => ((work.hasBegun = true), piece()), { signal });
        leave();
        return done;
      } catch (error) {
        const isRefused = !work.hasBegun && EngineError.is(error) && error.code === 'overloaded';
        if (!isRefused) leave();
        if (!isRefused || !hasBegun) throw error;
      }
      await raceAbort(room.promise, signal);
    }
  };
}
