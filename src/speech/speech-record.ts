/** Records a synthesis, which ends when its audio ends. */
import type { Speech } from '../../engines/contract/index.ts';
import { CallRecord } from '../engine-host/call-record.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';
import type { Listener } from './timeouts.ts';

/** Resolves and rejects like `speak`. The record ends when the audio has ended or is no longer being read. */
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

/** Not a generator, because its `return()` would wait for the pending chunk. */
function watched({ audio }: Speech, record: CallRecord, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const source = audio[Symbol.asyncIterator]();
  const iterator: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => iterator,
    async next() {
      try {
        const item = await source.next();
        if (item.done) record.end({});
        return item;
      } catch (error) {
        record.end({ error: errorTypeOf(error, signal) });
        throw error;
      }
    },
    async return() {
      record.end({ error: 'cancelled' });
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
  return iterator;
}
