/** The last moments of a session's sound: a turn begins before it is recognized as one. */
import type { Frame } from './frames.ts';

type Sound = Pick<Frame, 'samples' | 'rate'>;

export class RecentSound {
  #frames: (Sound & { readonly endMs: number })[] = [];

  /** Keeps the last `keptMs` milliseconds, as long as the rate stays the same. */
  push({ samples, rate }: Sound, endMs: number, keptMs: number): void {
    if (this.#frames[0] && this.#frames[0].rate !== rate) this.#frames = [];
    let oldest: Sound | undefined;
    while ((this.#frames[0]?.endMs ?? endMs) <= endMs - keptMs) oldest = this.#frames.shift();
    // A view would keep the whole message, and a new array for each frame is most of the work of the garbage collector.
    const copy = oldest?.samples.length === samples.length ? oldest.samples : new Int16Array(samples.length);
    copy.set(samples);
    this.#frames.push({ samples: copy, rate, endMs });
  }

  since(ms: number): Sound[] {
    const frames = this.#frames.filter(({ endMs }) => endMs > ms);
    return frames.map(({ samples, rate }) => ({ samples: samples.slice(), rate }));
  }
}
