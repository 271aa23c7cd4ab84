/**
 * Quotas and eviction of the clip store. A caller holds at most half of the store while others have clips, and never
 * evicts clips of callers that hold less.
 */
import { EngineError } from '../../engines/contract/index.ts';
import { ProblemError } from '../contract/problems.ts';
import type { ClipLimits, StoredClip } from './clip.ts';

export class ClipQuota {
  readonly #limits: Pick<ClipLimits, 'clipBytes' | 'totalBytes'>;
  readonly #evict: (clip: StoredClip) => Promise<void>;
  /** All clips, oldest first. */
  readonly #clips = new Set<StoredClip>();
  /** Clips that are not complete yet. */
  readonly #growing = new Set<StoredClip>();
  /** Bytes held by each caller. */
  readonly #held = new Map<string, number>();
  #bytes = 0;

  /** `evict` must call `delete`. */
  constructor(limits: Pick<ClipLimits, 'clipBytes' | 'totalBytes'>, evict: (clip: StoredClip) => Promise<void>) {
    this.#limits = limits;
    this.#evict = evict;
  }

  /** Bytes of all clips. */
  get bytes(): number {
    return this.#bytes;
  }

  add(clip: StoredClip): void {
    this.#clips.add(clip);
    this.#growing.add(clip);
  }

  /** Marks the clip as complete: from now on, it can be evicted. */
  complete(clip: StoredClip): void {
    this.#growing.delete(clip);
  }

  delete(clip: StoredClip): void {
    this.#growing.delete(clip);
    if (this.#clips.delete(clip)) this.#count(clip, -clip.bytes);
  }

  /** Reserves bytes for a growing clip, evicting others if necessary. Throws `storage-full`. */
  async take(clip: StoredClip, bytes: number): Promise<void> {
    const { clipBytes, totalBytes } = this.#limits;
    const half = totalBytes / 2;
    if (clip.bytes + bytes > clipBytes) throw storageFull(`The clip exceeds the limit of ${String(clipBytes)} bytes.`);
    // Growing clips cannot be evicted, so the growing clips of a caller never take more than half, even if no other
    // caller has clips.
    if (this.#growingBytes(clip.caller) + bytes > half)
      throw storageFull('Too many clips are being synthesized; try again later.');
    for (;;) {
      if (!this.#clips.has(clip)) throw new Error('the clip has been dropped');
      const held = this.#heldBy(clip.caller) + bytes;
      const isOverShare = held > half && this.#bytes > this.#heldBy(clip.caller);
      const hasRoom = !isOverShare && this.#bytes + bytes <= totalBytes;
      const refusal = hasRoom ? takeFromDisk(clip, bytes) : storageFull('The clip store is full; try again later.');
      if (!refusal) return this.#count(clip, bytes);
      const victim = this.#victim(isOverShare ? [clip.caller] : this.#evictableBy(clip.caller, held));
      if (!victim) throw refusal;
      await this.#evict(victim);
    }
  }

  /** Returns the other callers that hold at least `held` bytes, largest first, then the caller itself. */
  #evictableBy(caller: string, held: number): string[] {
    const others = [...this.#held].filter(([other, bytes]) => other !== caller && bytes >= held);
    return [...others.sort(([, a], [, b]) => b - a).map(([other]) => other), caller];
  }

  /** Returns the oldest complete clip of the first caller that has one; clips that are being read come last. */
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

/** Returns the error of the disk budget instead of throwing it, because evicting a clip may free enough space. */
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
