/** Encodes mp3 and ogg, and resamples pcm, in worker threads: on the main thread, this would block the event loop. */
import { once } from 'node:events';
import { EngineError, type Pcm } from '../../../engines/contract/index.ts';
import { blocksOf, type BlockSize } from './blocks.ts';
import type { EncoderJob, EncoderRequest, EncoderResponse } from './encoder-thread.ts';
import { openEncoderSession } from './thread-pool.ts';
import { reasonOf } from '../../../lib/abort.ts';

/**
 * At least half a second of speech per block (at 24 kHz), because each block costs a round trip between threads, a
 * write and a read.
 */
const defaultBlock: BlockSize = { min: 12_288, max: 98_304 };

export async function* encodeInThread(
  { sampleRate, samples }: Pcm,
  format: EncoderJob['format'],
  signal: AbortSignal,
  size = defaultBlock,
): AsyncGenerator<Uint8Array> {
  using encoder = openEncoder(signal);
  await encoder.send({ format, sampleRate });
  for await (const block of blocksOf(samples, size)) {
    const bytes = await encoder.send(block);
    if (bytes.length > 0) yield bytes;
  }
  const rest = await encoder.send('end');
  if (rest.length > 0) yield rest;
}

interface Encoder extends Disposable {
  /** Sends a request; calls cannot overlap. Rejects with `engine-failed` or the signal's reason. */
  send(request: EncoderRequest): Promise<Uint8Array>;
}

function openEncoder(signal: AbortSignal): Encoder {
  signal.throwIfAborted();
  const { worker, port, close } = openEncoderSession();
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined); // the next request reports the error
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
