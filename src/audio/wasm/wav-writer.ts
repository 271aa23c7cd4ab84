import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { toInt16 } from '../../../lib/samples.ts';
import { wavHeader } from '../../../lib/wav.ts';

const bufferedBytes = 65_536;

/** Writes a new 16 kHz mono s16 WAV file from samples between -1 and 1. Samples outside this range are clipped. */
export class WavWriter {
  readonly #file: number;
  readonly #buffer = Buffer.alloc(bufferedBytes);
  #buffered = 0;
  #written = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'wx', 0o600);
    writeFileSync(this.#file, wavHeader(0));
  }

  /** Number of samples written so far. */
  get samples(): number {
    return (this.#written + this.#buffered) / 2;
  }

  write(samples: Float32Array): void {
    for (const sample of samples) {
      if (this.#buffered === bufferedBytes) this.#flush();
      this.#buffered = this.#buffer.writeInt16LE(toInt16(sample), this.#buffered);
    }
  }

  /** Flushes the buffer and writes the length to the header. */
  close(): void {
    this.#flush();
    writeSync(this.#file, wavHeader(this.#written), 0, undefined, 0);
    closeSync(this.#file);
  }

  #flush(): void {
    writeFileSync(this.#file, this.#buffer.subarray(0, this.#buffered));
    this.#written += this.#buffered;
    this.#buffered = 0;
  }
}
