/** Measures a synthesis, for the metrics. */
import type { Speech } from '../../engines/contract/index.ts';
import { errorTypeOf, type ErrorType, type Metrics } from '../metrics/metrics.ts';
import { createAudioMeter, type AudioMeter } from './audio-length.ts';
import type { Listener } from './timeouts.ts';

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
  let meter: AudioMeter | undefined;
  let isOver = false;
  const end = (error?: ErrorType) => {
    if (isOver) return;
    isOver = true;
    const audioMs = meter?.ms();
    metrics.speechEnded({ model, ms: performance.now() - started, firstByteMs, audioMs, error });
  };
  try {
    const speech = await speak();
    firstByteMs = performance.now() - started;
    meter = createAudioMeter(speech.mediaType);
    return { ...speech, audio: watched(speech.audio, meter) };
  } catch (error) {
    end(errorTypeOf(error, waiting?.aborted ? waiting : signal));
    throw error;
  }

  /** Not a generator: its `return()` would wait for the pending chunk. */
  function watched(audio: AsyncIterable<Uint8Array>, measured: AudioMeter): AsyncIterable<Uint8Array> {
    const source = audio[Symbol.asyncIterator]();
    const iterator: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => iterator,
      async next() {
        try {
          const item = await source.next();
          if (item.done) end();
          else measured.take(item.value);
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
