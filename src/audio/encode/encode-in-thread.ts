/** Encodes mp3 and ogg in worker threads: on the main thread the encoders would block the event loop. */
import { once } from 'node:events';
import { EngineError, type Pcm } from '../../../engines/contract/index.ts';
import type { EncoderRequest, EncoderResponse } from './encoder-thread.ts';
import { openEncoderSession } from './thread-pool.ts';
import { reasonOf } from '../../../lib/abort.ts';

/** Half a second of speech per block: each block is a round trip between threads. */
const blockSamples = 12_288;

export async function* encodeInThread(
  { sampleRate, samples }: Pcm,
  format: 'mp3' | 'ogg',
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  using encoder = openEncoder(signal);
  await encoder.send({ format, sampleRate });
  for await (const block of blocksOf(samples)) {
    const bytes = await encoder.send(block);
    if (bytes.length > 0) yield bytes;
  }
  const rest = await encoder.send('end');
  if (rest.length > 0) yield rest;
}

/** Regroups samples into blocks of equal size, except for the last. */
async function* blocksOf(samples: AsyncIterable<Int16Array>): AsyncGenerator<Int16Array<ArrayBuffer>> {
  let [block, filled] = [new Int16Array(blockSamples), 0];
  for await (const chunk of samples) {
    for (let taken = 0; taken < chunk.length;) {
      const part = chunk.subarray(taken, taken + blockSamples - filled);
      block.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < blockSamples) continue;
      yield block;
      [block, filled] = [new Int16Array(blockSamples), 0];
    }
  }
  if (filled > 0) yield block.slice(0, filled);
}

interface Encoder extends Disposable {
  /** One request at a time. Rejects with `engine-failed` or the signal's reason. */
  send(request: EncoderRequest): Promise<Uint8Array>;
}

function openEncoder(signal: AbortSignal): Encoder {
  signal.throwIfAborted();
  const { worker, port, close } = openEncoderSession();
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined); // reported by the next request
  const fail = (cause: unknown) => reject(failed(cause));
  const abort = () => reject(reasonOf(signal));
  worker.on('error', fail).on('exit', fail);
  signal.addEventListener('abort', abort, { once: true });
  return {
    async send(request) {
      const received = once(port, 'message') as Promise<[EncoderResponse]>;
      port.postMessage(request, request instanceof Int16Array ? [request.buffer] : []);
      const [response] = await Promise.race([received, broken]);
      if (response instanceof Error) throw failed(response);
      return response;
    },
    [Symbol.dispose]() {
      worker.off('error', fail).off('exit', fail);
      signal.removeEventListener('abort', abort);
      close();
    },
  };
}

function failed(cause: unknown): EngineError {
  return new EngineError('engine-failed', 'The speech could not be encoded.', { cause });
}
