/** Records a synthesis, which ends with its audio. */
import type { Speech } from '../../engines/contract/index.ts';
import { CallRecord } from '../engine-host/call-record.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { errorTypeOf, type ErrorType, type Metrics } from '../metrics/metrics.ts';
import { createAudioMeter } from './audio-length.ts';
import type { Listener } from './timeouts.ts';

/** Resolves and rejects as `speak` does. The record is complete when the audio has ended or is no longer read. */
export async function recordSpeech<S extends Speech>(
  speak: () => Promise<S>,
  model: ServedModel<'speech'>,
  { signal, waiting }: Listener,
  metrics: Metrics | undefined,
): Promise<S> {
  const record = new CallRecord('speech', model, metrics);
  try {
    const speech = await speak();
    record.output();
    return metrics ? { ...speech, audio: watched(speech, record, signal) } : speech;
  } catch (error) {
    record.end({ error: errorTypeOf(error, waiting?.aborted ? waiting : signal) });
    throw error;
  }
}

/** Not a generator: its `return()` would wait for the pending chunk. */
function watched({ mediaType, audio }: Speech, record: CallRecord, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const meter = createAudioMeter(mediaType);
  const source = audio[Symbol.asyncIterator]();
  const end = (error?: ErrorType) => record.end({ audioMs: meter.ms(), error });
  const iterator: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => iterator,
    async next() {
      try {
        const item = await source.next();
        if (item.done) end();
        else meter.take(item.value);
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
