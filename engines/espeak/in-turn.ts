import { EngineError, type CallQueue, type Speech } from '../contract/index.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { linkedSignal, onAbort } from '../../lib/abort.ts';

/**
 * Starts a synthesis when a slot of the queue is free, and resolves once its first bytes are available. The slot is
 * held until the audio has been read to its end, abandoned or aborted. The signal passed to `start` then aborts.
 */
export function speakInTurn(
  queue: CallQueue,
  start: (signal: AbortSignal) => Promise<Speech>,
  { signal }: { signal: AbortSignal },
): Promise<Speech> {
  return new Promise((resolve, reject) => {
    const call = async () => {
      signal.throwIfAborted();
      using own = linkedSignal(signal);
      const over = new Promise((resolve) => onAbort(own.signal, resolve));
      const end = () => own.abort(new Error('the speech is over'));
      try {
        resolve(await awaitFirstChunk(await start(own.signal), { end, empty }));
        await over;
      } finally {
        end();
      }
    };
    queue.run(call, { signal }).catch(reject);
  });
}

function empty(): Error {
  return new EngineError('engine-failed', 'The speech program produced no audio.');
}
