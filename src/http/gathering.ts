/** The bytes of a body on its way. Copied: of a chunk of one byte, Node's Buffer alone takes 200. */
export class Gathering {
  #blocks: Buffer[] = [];
  /** What is free of the last block. */
  #room = Buffer.alloc(0);
  #bytes = 0;

  add(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#room.length === 0) this.#addBlock();
      const copied = rest.copy(this.#room);
      this.#room = this.#room.subarray(copied);
      this.#bytes += copied;
      rest = rest.subarray(copied);
    }
  }

  /** As long as all before it together. */
  #addBlock(): void {
    this.#room = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#bytes, leastBlock), largestBlock));
    this.#blocks.push(this.#room);
  }

  /** All of it; nothing is held any more. */
  take(): Buffer {
    const whole = Buffer.concat(this.#blocks, this.#bytes);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#blocks = [];
    this.#room = Buffer.alloc(0);
    this.#bytes = 0;
  }
}

const leastBlock = 4096;
const largestBlock = 1024 * 1024;
