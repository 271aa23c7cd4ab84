/**
 * Collects the chunks of a body. Small chunks are copied into blocks, because each Buffer has an overhead of 200 bytes.
 */
export class ByteBuffer {
  #chunks: Buffer[] = [];
  /** The free part of the last block. */
  #free = none;
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (chunk.length >= blockBytes) this.#addLarge(chunk);
    else this.#addSmall(chunk);
  }

  #addLarge(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    if (last && this.#free.length > 0) this.#chunks[this.#chunks.length - 1] = last.subarray(0, -this.#free.length);
    this.#free = none;
    this.#chunks.push(chunk);
  }

  #addSmall(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#free.length === 0) {
        this.#free = Buffer.allocUnsafeSlow(blockBytes);
        this.#chunks.push(this.#free);
      }
      const copied = rest.copy(this.#free);
      this.#free = this.#free.subarray(copied);
      rest = rest.subarray(copied);
    }
  }

  /** Returns all bytes and clears the buffer. */
  take(): Buffer {
    const whole = Buffer.concat(this.#chunks, this.#bytes);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#chunks = [];
    this.#free = none;
    this.#bytes = 0;
  }
}

const blockBytes = 4096;
const none = Buffer.alloc(0);
