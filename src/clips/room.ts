/**
 * Who may have how much of the clip store, and which clip goes when there is no room. A caller who makes many clips
 * loses his own: at most half of the store is his while others have any, and he never evicts those who hold less.
 */
import { EngineError } from '../../engines/contract/index.ts';
import { ProblemError } from '../contract/problems.ts';
import type { ClipLimits, StoredClip } from './clip.ts';

export class ClipRoom {
  readonly #limits: Pick<ClipLimits, 'clipBytes' | 'totalBytes'>;
  readonly #evict: (clip: StoredClip) => Promise<void>;
  /** The oldest first. */
  readonly #clips = new Set<StoredClip>();
  /** Not complete yet. */
  readonly #growing = new Set<StoredClip>();
  /** Bytes by caller. */
  readonly #held = new Map<string, number>();
  #bytes = 0;

  /** `evict` deletes the clip here too. */
  constructor(limits: Pick<ClipLimits, 'clipBytes' | 'totalBytes'>, evict: (clip: StoredClip) => Promise<void>) {
    this.#limits = limits;
    this.#evict = evict;
  }

  add(clip: StoredClip): void {
    this.#clips.add(clip);
    this.#growing.add(clip);
  }

  /** From now on it can be evicted. */
  complete(clip: StoredClip): void {
    this.#growing.delete(clip);
  }

  delete(clip: StoredClip): void {
    this.#growing.delete(clip);
    if (this.#clips.delete(clip)) this.#count(clip, -clip.bytes);
  }

  /** Takes room for a clip that grows, by evicting others where it must. Throws `storage-full`. */
  async take(clip: StoredClip, bytes: number): Promise<void> {
    const { clipBytes, totalBytes } = this.#limits;
    const half = totalBytes / 2;
    if (clip.bytes + bytes > clipBytes) throw storageFull(`A clip may have at most ${String(clipBytes)} bytes.`);
    // What is still being made cannot be evicted: it never takes more than half, even while others have nothing.
    if (this.#growingBytes(clip.caller) + bytes > half) throw storageFull('Too many clips are being made now.');
    for (;;) {
      if (!this.#clips.has(clip)) throw new Error('the clip has been dropped');
      const held = this.#heldBy(clip.caller) + bytes;
      const isOverShare = held > half && this.#bytes > this.#heldBy(clip.caller);
      const hasRoom = !isOverShare && this.#bytes + bytes <= totalBytes;
      const refusal = hasRoom
        ? takeFromDisk(clip, bytes)
        : storageFull('The service has no room for further clips now.');
      if (!refusal) return this.#count(clip, bytes);
      const victim = this.#victim(isOverShare ? [clip.caller] : this.#evictableBy(clip.caller, held));
      if (!victim) throw refusal;
      await this.#evict(victim);
    }
  }

  /** Others who hold at least as much, the largest first; then the caller himself. */
  #evictableBy(caller: string, held: number): string[] {
    const others = [...this.#held].filter(([other, bytes]) => other !== caller && bytes >= held);
    return [...others.sort(([, a], [, b]) => b - a).map(([other]) => other), caller];
  }

  /** The oldest complete clip of the first of them that has one; those that are being read come last. */
  #victim(callers: readonly string[]): StoredClip | undefined {
    for (const caller of callers) {
      let oldest: StoredClip | undefined;
      for (const clip of this.#clips) {
        if (clip.caller !== caller || this.#growing.has(clip)) continue;
        if (!clip.isBeingRead) return clip;
        oldest ??= clip;
      }
      if (oldest) return oldest;
    }
    return undefined;
  }

  #growingBytes(caller: string): number {
    let sum = 0;
    for (const clip of this.#growing) if (clip.caller === caller) sum += clip.bytes;
    return sum;
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }

  #count({ caller }: StoredClip, bytes: number): void {
    this.#bytes += bytes;
    const held = this.#heldBy(caller) + bytes;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
  }
}

/** The refusal of the disk budget: a clip that goes may make room there too. */
function takeFromDisk(clip: StoredClip, bytes: number): Error | undefined {
  try {
    clip.take(bytes);
    return undefined;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'storage-full') return error;
    throw error;
  }
}

function storageFull(detail: string): ProblemError {
  return new ProblemError('storage-full', detail);
}
