/** Charges a transcription to the audio budget of its API key, also if it fails: what the engine has reported by then. */
import type { TranscriptionOptions } from '../../engines/contract/index.ts';
import { currentCharge } from '../caller.ts';

type Callbacks = Pick<TranscriptionOptions, 'onSegment' | 'onProgress' | 'onQueued'>;

interface ChargedCallbacks extends Callbacks {
  /** The first call counts. `durationMs`: the length of the recording, if the transcript has one. */
  readonly charge: (durationMs?: number) => void;
}

/** The callbacks for the engine. Without a budget they are the same. */
export function chargeAudio(callbacks: Callbacks): ChargedCallbacks {
  const charge = currentCharge();
  if (!charge) return { ...callbacks, charge: () => undefined };
  const { onSegment, onProgress, ...others } = callbacks;
  let reportedMs = 0;
  let isCharged = false;
  return {
    ...others,
    ...(onSegment && {
      onSegment(segment) {
        reportedMs = Math.max(reportedMs, segment.endMs);
        onSegment(segment);
      },
    }),
    onProgress(ms, durationMs) {
      reportedMs = Math.max(reportedMs, ms);
      onProgress?.(ms, durationMs);
    },
    charge(durationMs = reportedMs) {
      if (!isCharged) charge({ audioMs: durationMs });
      isCharged = true;
    },
  };
}
