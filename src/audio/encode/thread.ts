/** mp3 and ogg: the encoders would keep the main thread from everything else, so they run in threads of their own. */
import { once } from 'node:events';
import { EngineError, type Pcm } from '../../../engines/contract/index.ts';
import type { Answer, Question } from './worker.ts';
import { takeSeat } from './workers.ts';

/** What is encoded at a time, half a second of speech: each block is a round trip between threads. */
const blockSamples = 12_288;

export async function* encodeInThread(
  { sampleRate, samples }: Pcm,
  format: 'mp3' | 'ogg',
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  using encoder = openEncoder(signal);
  await encoder.ask({ format, sampleRate });
  for await (const block of blocksOf(samples)) {
    const bytes = await encoder.ask(block);
    if (bytes.length > 0) yield bytes;
  }
  const rest = await encoder.ask('end');
  if (rest.length > 0) yield rest;
}

/** The same samples in blocks of one size, but for the last. */
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
  /** One question at a time. Rejects with `engine-failed`, and with the signal's reason. */
  ask(question: Question): Promise<Uint8Array>;
}

function openEncoder(signal: AbortSignal): Encoder {
  signal.throwIfAborted();
  const { worker, port, leave } = takeSeat();
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined); // the next question tells
  const fail = (cause: unknown) => reject(failed(cause));
  const abort = () => reject(signal.reason as Error);
  worker.on('error', fail).on('exit', fail);
  signal.addEventListener('abort', abort, { once: true });
  return {
    async ask(question) {
      const answered = once(port, 'message') as Promise<[Answer]>;
      port.postMessage(question, question instanceof Int16Array ? [question.buffer] : []);
      const [answer] = await Promise.race([answered, broken]);
      if (answer instanceof Error) throw failed(answer);
      return answer;
    },
    [Symbol.dispose]() {
      worker.off('error', fail).off('exit', fail);
      signal.removeEventListener('abort', abort);
      leave();
    },
  };
}

function failed(cause: unknown): EngineError {
  return new EngineError('engine-failed', 'The speech could not be encoded.', { cause });
}
