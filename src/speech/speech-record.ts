/** Measures a synthesis, for the metrics. */
import type { Speech } from '../../engines/contract/index.ts';
import { errorTypeOf, type ErrorType, type Metrics } from '../metrics/metrics.ts';
import type { Listener } from './watchdog.ts';

export interface SpeechOrder {
  readonly model: string;
  readonly listener: Listener;
}

/** Resolves and rejects as `speak` does. The record is complete when the audio has ended or is no longer read. */
export async function recordSpeech<S extends Speech>(
  speak: () => Promise<S>,
  { model, listener: { signal, waiting } }: SpeechOrder,
  metrics: Metrics,
): Promise<S> {
  const started = performance.now();
  let firstByteMs: number | undefined;
  let isOver = false;
  const end = (error?: ErrorType) => {
    if (isOver) return;
    isOver = true;
    metrics.speechEnded({ model, ms: performance.now() - started, firstByteMs, error });
  };
  try {
    const speech = await speak();
    firstByteMs = performance.now() - started;
    return { ...speech, audio: watched(speech.audio) };
  } catch (error) {
    end(errorTypeOf(error, waiting?.aborted ? waiting : signal));
    throw error;
  }

  /** Not a generator: its `return()` would wait for the pending chunk. */
  function watched(audio: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const source = audio[Symbol.asyncIterator]();
    const iterator: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => iterator,
      async next() {
        try {
          const item = await source.next();
          if (item.done) end();
          return item;
        } catch (error) {
          end(errorTypeOf(error, signal));
          throw error;
        }
      },
      async return() {
        end('cancelled');
        return (await source.return?.()) ?? { done: true, value: undefined };
      },
    };
    return iterator;
  }
}
