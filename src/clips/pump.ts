/** Moves what an engine makes to where it is stored, as fast as it comes. */
import { EngineError } from '../../engines/contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';

type Store = (piece: Uint8Array) => Promise<void>;

export interface Pump {
  /** Resolves once the first piece is stored; rejects with `engine-failed` when there is none. */
  start(store: Store): Promise<void>;
  /** Resolves when all the rest is stored. */
  finish(store: Store): Promise<void>;
  /** Ends the engine's work; does nothing after its own end. */
  readonly stop: () => void;
}

export interface PumpOptions {
  readonly signal: AbortSignal;
  readonly onStopFailure: (error: unknown) => void;
}

export function createPump(audio: AsyncIterable<Uint8Array>, { signal, onStopFailure }: PumpOptions): Pump {
  const pieces = audio[Symbol.asyncIterator]();
  /** False when there is no more. */
  const moveOne = async (store: Store) => {
    const item = await raceAbort(pieces.next(), signal);
    if (!item.done) await store(item.value);
    return !item.done;
  };
  return {
    async start(store) {
      if (!(await moveOne(store))) throw new EngineError('engine-failed', 'The engine made no sound of this text.');
    },
    async finish(store) {
      while (await moveOne(store));
    },
    stop: () => void pieces.return?.().catch(onStopFailure),
  };
}
