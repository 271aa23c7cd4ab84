/** Collects the chunks of a body. Small chunks are copied into blocks: a Buffer for a one-byte chunk takes 200 bytes. */
export class ByteBuffer {
  #chunks: Buffer[] = [];
  /** The free rest of the last block. */
  #room = none;
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (chunk.length >= blockBytes) this.#addLarge(chunk);
    else this.#addSmall(chunk);
  }

  #addLarge(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    if (last && this.#room.length > 0) this.#chunks[this.#chunks.length - 1] = last.subarray(0, -this.#room.length);
    this.#room = none;
    this.#chunks.push(chunk);
  }

  #addSmall(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#room.length === 0) {
        this.#room = Buffer.allocUnsafeSlow(blockBytes);
        this.#chunks.push(this.#room);
      }
      const copied = rest.copy(this.#room);
      this.#room = this.#room.subarray(copied);
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
    this.#room = none;
    this.#bytes = 0;
  }
}

const blockBytes = 4096;
const none = Buffer.alloc(0);
