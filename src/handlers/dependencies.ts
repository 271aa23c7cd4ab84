/** What handlers work with. They get it as an argument; they make nothing of it themselves. */
import type { Registry } from '../engine-host/registry.ts';
import type { ClipStore } from '../clips/store.ts';
import type { Speakers } from '../speech/speaker.ts';
import type { SpeechSpool } from '../speech/speech-spool.ts';
import type { Toolbox } from '../tools/toolbox.ts';

export interface Services {
  readonly registry: Registry;
  readonly tools: Toolbox;
  /** Who speaks: for direct speech, and for read_aloud. */
  readonly speakers: Speakers;
  /** What read_aloud has made. */
  readonly clips: ClipStore;
  /** Direct speech on its way to its reader. */
  readonly speechSpool: SpeechSpool;
  /** An address below the API's root as clients find it: under PUBLIC_URL, or relative to the service's own root. */
  readonly linkTo: (path: string) => string;
  /** Milliseconds that a stream waits for its provider before it begins without it. */
  readonly streamHoldMs: number;
  readonly transcribeEnabled: boolean;
  /** Milliseconds for a transcription once its recording is there. */
  readonly transcribeTimeoutMs: number;
}
