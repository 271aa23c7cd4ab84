/**
 * Aligns audio with the timestamps of its file: an audio track may begin later than the video, and may have gaps. The
 * gaps are filled with silence, so that the times in a transcript match the file.
 */
import type { Container, Span } from '../../engines/contract/index.ts';
import { canLast } from '../../lib/recording/plausible.ts';

/** Timestamps are rounded, and the timestamps of a live recorder jitter, but by less than this. */
const minHoleMs = 10;
/**
 * Holes are filled once the audio lags this far behind its timestamps; a single lost packet does not justify a pause.
 */
const minLagMs = 100;
/** Far more than the rounding error of timestamps in milliseconds. */
const minRestMs = 5;
const minShortened = 3;
/** Timestamps that go back farther than this belong to another recording that was appended to the file. */
const maxOverlapMs = 1_000;

/** In other containers, audio has no gaps; the demuxer derives timestamps from the position in the file. */
const containersWithTimes: readonly Container[] = ['webm', 'mp4', 'ogg'];

export class Timeline {
  /** Parts of the decoded audio that are not in the file. */
  readonly gaps: Span[] = [];
  /** Whether audio is missing between two pieces. */
  hasHoles = false;
  /** Number of pieces shorter than their timestamps indicate, because the decoder mistook other data for audio. */
  #shortened = 0;
  #longestMs = 0;
  /** Whether a file of this size can plausibly last this long; limits the gaps. */
  readonly #canLast: (ms: number) => boolean;
  /** End of the decoded audio. */
  #endMs = 0;
  /** The previous piece, positioned by its timestamp. */
  #last: { readonly endMs: number; readonly lengthMs: number } | undefined;
  /** Offset added to timestamps to correct implausible ones. */
  #shiftMs = 0;

  constructor({ container, bytes = 0 }: { readonly container: Container; readonly bytes?: number }) {
    this.#canLast = (ms) => containersWithTimes.includes(container) && canLast(ms, { bytes });
  }

  /** Returns the milliseconds of silence to insert before the piece of audio with the timestamp `startMs`. */
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

  /** Whether several packets yielded too little audio without reporting an error. */
  get isShortened(): boolean {
    return this.#shortened >= minShortened;
  }

  /**
   * A lost packet leaves a hole of its own length. A hole that only completes a short packet means that the packet
   * itself is damaged.
   */
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

/** Returns how many milliseconds of a span of the decoded audio are not in the file. */
export function gapMsIn(gaps: readonly Span[], { startMs, endMs }: Span): number {
  const overlaps = gaps.map((gap) => Math.min(gap.endMs, endMs) - Math.max(gap.startMs, startMs));
  return overlaps.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}
