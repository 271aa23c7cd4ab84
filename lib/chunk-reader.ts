import type { Readable } from 'node:stream';

/**
 * Reads a stream chunk by chunk; to stop, destroy the stream. It replaces the async iterator of the stream, whose
 * generator and listeners cost 1.9 KB per live stream (docs/decisions/13-memory-of-a-stream.md).
 */
export class ChunkReader {
  readonly #stream: Readable;
  #waiting: PromiseWithResolvers<Buffer | undefined> | undefined;

  constructor(stream: Readable) {
    this.#stream = stream;
    for (const event of ['readable', 'end', 'error', 'close']) stream.on(event, this.#settle);
  }

  /**
   * Resolves with undefined at the end. Rejects with the stream's error, or when the stream closes early. One call at a
   * time.
   */
  next(): Promise<Buffer | undefined> {
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#settle();
    return promise;
  }

  readonly #settle = (): void => {
    const { destroyed, readableEnded, errored, closed } = this.#stream;
    if (this.#waiting === undefined) return;
    const chunk = destroyed ? null : (this.#stream.read() as Buffer | null);
    if (chunk !== null || readableEnded) this.#waiting.resolve(chunk ?? undefined);
    else if (errored || closed) this.#waiting.reject(errored ?? new Error('the stream was closed before its end'));
    else return;
    this.#waiting = undefined;
  };
}
