/**
 * Plans the pieces of a recording that Whisper transcribes, from the spans of speech. Whisper pads each piece to
 * windows of 30 s.
 */
import type { Span } from '../contract/index.ts';

const windowMs = 30_000;
/** whisper.cpp ignores the last 100 ms. */
const ignoredMs = 100;

/** Maximum length of joined spans: longer pieces save little and take longer to plan. */
const maxJoinMs = 5 * windowMs;

/** Number of encoder runs for audio of this length. */
export const encodesOf = (ms: number): number => Math.max(1, Math.ceil((ms - ignoredMs) / windowMs));

interface Plan {
  readonly encodes: number;
  /** Total length of the pieces. */
  readonly ms: number;
  /** Index of the first span of the last piece. */
  readonly from: number;
}

/**
 * Joins neighboring spans of speech into pieces, so that the encoder runs as rarely as possible, and then with as
 * little silence as possible. A piece is longer than a window only if its speech has no pause to cut in, or if that
 * saves an encoder run. The pieces never need more encoder runs than the whole recording.
 */
export function planPieces(speech: readonly Span[], durationMs: number): readonly Span[] {
  const plans: Plan[] = [{ encodes: 0, ms: 0, from: 0 }];
  for (const [index, last] of speech.entries()) plans.push(bestPlan(speech, index, last, plans));
  const pieces: Span[] = [];
  for (let end = speech.length; end > 0; end = plans[end]?.from ?? 0) {
    pieces.unshift(spanOf(speech[plans[end]?.from ?? 0], speech[end - 1]));
  }
  const isCheap = (plans.at(-1)?.encodes ?? 0) <= encodesOf(durationMs);
  return isCheap ? pieces : [spanOf(speech[0], speech.at(-1))];
}

/** The best plan for the spans up to `last`. `plans` has the best plan before each span. */
function bestPlan(speech: readonly Span[], index: number, last: Span, plans: readonly Plan[]): Plan {
  let best: Plan | undefined;
  for (let from = index; from >= 0; from -= 1) {
    const ms = last.endMs - (speech[from]?.startMs ?? 0);
    if (from < index && ms > maxJoinMs) break;
    const before = plans[from];
    const plan = { encodes: (before?.encodes ?? 0) + encodesOf(ms), ms: (before?.ms ?? 0) + ms, from };
    if (!best || plan.encodes < best.encodes || (plan.encodes === best.encodes && plan.ms < best.ms)) best = plan;
  }
  return best ?? { encodes: 0, ms: 0, from: index };
}

function spanOf(first: Span | undefined, last: Span | undefined): Span {
  return { startMs: first?.startMs ?? 0, endMs: last?.endMs ?? 0 };
}
