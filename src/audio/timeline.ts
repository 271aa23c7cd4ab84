/**
 * Where sound belongs in the time of its file: a sound track may begin later than the video, and time may pass without
 * sound. Silence takes its place, so that the times of a transcript are those of the file.
 */
import type { Container, Span } from '../../engines/contract/index.ts';
import { canLast } from '../../lib/recording/plausible.ts';

/** Time stamps are rounded, and those of a live recorder jitter by less than this. */
const minHoleMs = 10;
/** Holes are filled once the sound is this much behind its time stamps: single lost packets are not worth a pause. */
const minLagMs = 100;
/** Far more than time stamps in milliseconds are rounded. */
const minRestMs = 5;
const minShortened = 3;
/** Time stamps that go back this far are those of another recording, which was joined. */
const maxOverlapMs = 1_000;

/** In the others, sound follows sound; what a demuxer calls times is derived from the position in the file. */
const containersWithTimes: readonly Container[] = ['webm', 'mp4', 'ogg'];

export class Timeline {
  /** Parts of the decoded sound that are not in the file. */
  readonly gaps: Span[] = [];
  /** Whether something is missing between two pieces of sound. */
  hasHoles = false;
  /** Number of pieces that are shorter than their time: the decoder took other data for sound. */
  #shortened = 0;
  #longestMs = 0;
  /** How long gaps may make the sound. */
  readonly #canLast: (ms: number) => boolean;
  /** End of the decoded sound. */
  #endMs = 0;
  /** The last piece, by its time stamp. */
  #last: { readonly endMs: number; readonly lengthMs: number } | undefined;
  /** Added to time stamps that cannot be true. */
  #shiftMs = 0;

  constructor({ container, bytes = 0 }: { readonly container: Container; readonly bytes?: number }) {
    this.#canLast = (ms) => containersWithTimes.includes(container) && canLast(ms, { bytes });
  }

  /** Returns the milliseconds of silence before a piece of sound, whose time stamp is `startMs`. */
  place(startMs: number, lengthMs: number): number {
    const holeMs = startMs - (this.#last?.endMs ?? 0);
    if (this.#last) this.#checkHole(holeMs, this.#last.lengthMs);
    this.#last = { endMs: startMs + lengthMs, lengthMs };
    this.#longestMs = Math.max(this.#longestMs, lengthMs);
    const gapMs = this.#gapBefore(startMs, holeMs);
    if (gapMs > 0) this.gaps.push({ startMs: this.#endMs, endMs: this.#endMs + gapMs });
    this.#endMs += gapMs + lengthMs;
    return gapMs;
  }

  /** Whether too little sound was decoded from several packets, without an error. */
  get isShortened(): boolean {
    return this.#shortened >= minShortened;
  }

  /** A lost packet leaves a hole of its length. A hole that is no longer than the rest of a packet is in the packet. */
  #checkHole(holeMs: number, lengthMs: number): void {
    this.hasHoles ||= holeMs >= minHoleMs;
    const isRest = lengthMs < 0.9 * this.#longestMs && lengthMs + holeMs < 1.1 * this.#longestMs;
    if (holeMs >= minRestMs && isRest) this.#shortened += 1;
  }

  #gapBefore(startMs: number, holeMs: number): number {
    const lagMs = startMs + this.#shiftMs - this.#endMs;
    const isGap = holeMs >= minHoleMs && lagMs >= minLagMs;
    if (isGap && this.#canLast(this.#endMs + lagMs)) return Math.round(lagMs);
    if (isGap || lagMs < -maxOverlapMs) this.#shiftMs -= lagMs;
    return 0;
  }
}

/** Milliseconds of a part of the decoded sound that are not in the file. */
export function gapMsIn(gaps: readonly Span[], { startMs, endMs }: Span): number {
  const overlaps = gaps.map((gap) => Math.min(gap.endMs, endMs) - Math.max(gap.startMs, startMs));
  return overlaps.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}
