/** Spools direct speech to disk, so that the engine does not wait for a slow client and memory stays bounded. */
import { join } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { createPump } from '../clips/pump.ts';
import { Spool } from '../clips/spool.ts';
import { linkedSignal, onAbort, type LinkedSignal } from '../../lib/abort.ts';
import type { AccountedDirectory } from '../system/workspace.ts';

export interface SpeechSpool extends AsyncDisposable {
  /**
   * Resolves once the first bytes are stored; rejects with `storage-full`, or with the error if the audio fails before
   * its first byte. The file is removed when the reader has reached the end or returned, or when the signal aborts.
   */
  spool(audio: AsyncIterable<Uint8Array>, { signal }: { signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
}

export interface SpeechSpoolOptions {
  /** Creates a private directory for one speech, removed on disposal. */
  readonly directory: () => Promise<AccountedDirectory>;
  readonly log: Logger;
}

/** A speech on disk. */
interface Stored {
  readonly file: Spool;
  readonly store: (piece: Uint8Array) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export function createSpeechSpool({ directory, log }: SpeechSpoolOptions): SpeechSpool {
  const inUse = new Set<Promise<void>>();
  return {
    async spool(audio, { signal }) {
      const reading = linkedSignal(signal);
      const pump = createPump(audio, {
        signal: reading.signal,
        onStopFailure: (error) => log.debug({ err: error }, 'an engine failed to stop its speech'),
      });
      let stored: Stored | undefined;
      try {
        signal.throwIfAborted();
        stored = await openFile(await directory());
        await pump.start(stored.store);
      } catch (error) {
        reading[Symbol.dispose]();
        pump.stop();
        await stored?.remove();
        throw error;
      }
      const { file, store, remove } = stored;
      const rest = pump
        .finish(store)
        .then(() => file.complete())
        .catch((error: unknown) => file.fail(error as Error))
        .finally(pump.stop);
      const isRead = new Promise((resolve) => onAbort(reading.signal, resolve)).finally(() =>
        reading[Symbol.dispose](),
      );
      track(Promise.all([rest, isRead]).finally(remove));
      return readOnce(file, reading);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(inUse);
    },
  };

  function track(work: Promise<unknown>): void {
    const done: Promise<void> = work
      .then(() => undefined)
      .catch((error: unknown) => log.error({ err: error }, 'the file of a speech could not be removed'))
      .finally(() => inUse.delete(done));
    inUse.add(done);
  }
}

async function openFile(directory: AccountedDirectory): Promise<Stored> {
  const removeDirectory = () => directory[Symbol.asyncDispose]();
  const file = await Spool.create(join(directory.path, 'audio')).catch(async (error: unknown) => {
    await removeDirectory();
    throw error;
  });
  return {
    file,
    async store(piece) {
      directory.account.take(piece.length);
      await file.append(piece);
    },
    // Releases the disk space immediately, even if a reader keeps the file open.
    remove: () => file.fail(new Error('the speech has been read')).finally(removeDirectory),
  };
}

async function* readOnce(file: Spool, reading: LinkedSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* file.read({ first: 0 }, reading.signal);
  } finally {
    reading.abort(new Error('the reader of the speech has ended'));
  }
}
