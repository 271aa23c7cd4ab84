/** What every decoder is asked, and the refusal that they share. */
import { EngineError, type Container } from '../../engines/contract/index.ts';
import type { DiskAccount } from '../system/disk-budget.ts';

export interface DecodeJob {
  readonly path: string;
  readonly container: Container;
  /** Where the PCM goes, as a WAV file. */
  readonly wavPath: string;
  /** Longer recordings are refused while they are decoded: headers lie. */
  readonly maxSeconds: number;
}

export interface DecodeOptions {
  readonly signal: AbortSignal;
  /** Pays for what is written; absent: nothing counts it. */
  readonly account?: DiskAccount | undefined;
}

export function tooLong(maxSeconds: number): EngineError {
  return new EngineError(
    'recording-too-long',
    `The recording is longer than ${String(maxSeconds)} seconds, the limit here.`,
  );
}
