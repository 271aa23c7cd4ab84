/** Direct speech on its way to its one reader: the engine does not wait for a slow reader, nor does it fill the memory. */
import { join } from 'node:path';
import type { Logger } from '../../engines/contract.ts';
import { createPump } from '../clips/pump.ts';
import { Spool } from '../clips/spool.ts';
import { follow } from '../deadline.ts';
import type { AccountedDirectory } from '../machine/workspace.ts';

export interface SpeechSpool extends AsyncDisposable {
  /**
   * Resolves once the first bytes are stored; rejects with `storage-full`, or with the failure of the audio before its
   * first byte. Nothing is left once the reader has reached the end or has returned, or the signal has aborted.
   */
  spool(audio: AsyncIterable<Uint8Array>, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
}

export interface SpeechSpoolOptions {
  /** A private directory for one speech, removed when it is disposed of. */
  readonly directory: () => Promise<AccountedDirectory>;
  readonly log: Logger;
}

export function createSpeechSpool({ directory, log }: SpeechSpoolOptions): SpeechSpool {
  const inUse = new Set<Promise<void>>();
  return {
    async spool(audio, { signal }) {
      await using cleanup = new AsyncDisposableStack();
      const reading = new AbortController();
      cleanup.defer(follow(signal, reading));
      const pump = createPump(audio, {
        signal: reading.signal,
        onStopFailure: (error) => log.debug({ err: error }, 'an engine could not end its speech'),
      });
      cleanup.defer(pump.stop);
      signal.throwIfAborted();
      const { path, account } = cleanup.use(await directory());
      const file = await Spool.create(join(path, 'audio'));
      cleanup.defer(() => file.fail(new Error('the speech has been read'))); // frees the space, whoever has it open
      const store = async (piece: Uint8Array) => {
        account.take(piece.length);
        await file.append(piece);
      };
      await pump.start(store);
      const rest = pump
        .finish(store)
        .then(() => file.complete())
        .catch((error: unknown) => file.fail(error as Error))
        .finally(pump.stop);
      track(removeAfter(Promise.all([rest, aborted(reading.signal)]), cleanup.move()));
      return readOnce(file, reading);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(inUse);
    },
  };

  async function removeAfter(use: Promise<unknown>, cleanup: AsyncDisposableStack): Promise<void> {
    try {
      await use;
    } finally {
      await cleanup.disposeAsync();
    }
  }

  function track(work: Promise<void>): void {
    const done: Promise<void> = work
      .catch((error: unknown) => log.error({ err: error }, 'the file of a speech could not be removed'))
      .finally(() => inUse.delete(done));
    inUse.add(done);
  }
}

async function* readOnce(file: Spool, reading: AbortController): AsyncGenerator<Uint8Array> {
  try {
    yield* file.read({ first: 0 }, reading.signal);
  } finally {
    reading.abort(new Error('nobody reads the speech any more'));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
