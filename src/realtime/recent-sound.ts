/** The last moments of a session's sound: a turn begins before it is recognized as one. */
import type { Frame } from './frames.ts';

export class RecentSound {
  #frames: { readonly frame: Frame; readonly endMs: number }[] = [];

  /** Keeps the last `keptMs` milliseconds, as long as the rate stays the same. */
  push(frame: Frame, endMs: number, keptMs: number): void {
    if (this.#frames[0] && this.#frames[0].frame.rate !== frame.rate) this.#frames = [];
    this.#frames.push({ frame: { ...frame, samples: frame.samples.slice() }, endMs }); // a view would keep the whole message
    while ((this.#frames[0]?.endMs ?? endMs) <= endMs - keptMs) this.#frames.shift();
  }

  since(ms: number): Frame[] {
    return this.#frames.filter(({ endMs }) => endMs > ms).map(({ frame }) => frame);
  }
}
