/** Stores an engine's audio as fast as it is produced. */
import { EngineError } from '../../engines/contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';

type Store = (piece: Uint8Array) => Promise<void>;

export interface PumpOptions {
  readonly signal: AbortSignal;
  readonly onStopFailure: (error: unknown) => void;
}

export function createPump(audio: AsyncIterable<Uint8Array>, { signal, onStopFailure }: PumpOptions) {
  const pieces = audio[Symbol.asyncIterator]();
  /** Resolves with false at the end of the audio. */
  const moveOne = async (store: Store) => {
    const item = await raceAbort(pieces.next(), signal);
    if (!item.done) await store(item.value);
    return !item.done;
  };
  return {
    /** Resolves once the first chunk is stored; rejects with `engine-failed` if the engine returns no audio. */
    async start(store: Store): Promise<void> {
      if (!(await moveOne(store)))
        throw new EngineError('engine-failed', 'The engine produced no audio for this text.');
    },
    /** Stores the rest. */
    async finish(store: Store): Promise<void> {
      while (await moveOne(store));
    },
    /** Stops the engine. Has no effect if the engine has finished. */
    stop: (): void => void pieces.return?.().catch(onStopFailure),
  };
}
