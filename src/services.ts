/** What handlers work with. They get it as an argument; they make nothing of it themselves. */
import type { Registry } from '../engines/registry.ts';

export interface Services {
  readonly registry: Registry;
  readonly transcribeEnabled: boolean;
  /** Milliseconds for a transcription once its recording is there. */
  readonly transcribeTimeoutMs: number;
}
