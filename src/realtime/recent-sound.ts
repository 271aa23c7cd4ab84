/** The last moments of a session's sound, in its own format: a turn begins before it is recognized as one. */
export class RecentSound {
  #frames: { readonly bytes: Uint8Array; readonly endMs: number }[] = [];

  /** Keeps the last `keptMs` milliseconds. */
  push(bytes: Uint8Array, endMs: number, keptMs: number): void {
    this.#frames.push({ bytes: new Uint8Array(bytes), endMs }); // a view would keep the whole message
    while ((this.#frames[0]?.endMs ?? endMs) <= endMs - keptMs) this.#frames.shift();
  }

  /** Whole frames. */
  since(ms: number): Uint8Array[] {
    return this.#frames.filter(({ endMs }) => endMs > ms).map(({ bytes }) => bytes);
  }

  clear(): void {
    this.#frames = [];
  }
}
