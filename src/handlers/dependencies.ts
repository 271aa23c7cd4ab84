/** The dependencies of handlers, passed as an argument. */
import type { Registry } from '../engine-host/registry/registry.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ItemStore } from '../chat/item-store.ts';
import type { Clips } from '../clips/store.ts';
import type { Preparations } from '../engine-host/assets/preparations.ts';
import type { Jobs } from '../jobs/store.ts';
import type { RefusePreparing } from '../keys/preparing.ts';
import type { SpeechModelSelector } from '../speech/speech-models.ts';
import type { SpeechSpool } from '../speech/speech-spool.ts';
import type { Toolbox } from '../tools/toolbox.ts';

export interface Services {
  readonly registry: Registry;
  readonly tools: Toolbox;
  /** For direct speech and for read_aloud. */
  readonly speakers: SpeechModelSelector;
  /** Audio at addresses of its own: made by read_aloud and by `POST /tts/clips`. */
  readonly clips: Clips;
  /** Transcriptions of long recordings. */
  readonly jobs: Jobs;
  /** What this machine can have. */
  readonly preparations: Preparations;
  readonly refusePreparing: RefusePreparing;
  /** PARLANCE_SANDBOX. */
  readonly sandbox: boolean;
  /** Buffers direct speech on disk until its caller has read it. */
  readonly speechSpool: SpeechSpool;
  /** The URL of a path below the API root: under PUBLIC_URL, else relative to the service's root. */
  readonly linkTo: (path: string) => string;
  /** Milliseconds that an event stream waits for its provider before it sends its head. */
  readonly streamHoldMs: number;
  readonly transcribeEnabled: boolean;
  /** Seconds for a transcription once its recording is stored (TRANSCRIBE_TIMEOUT). */
  readonly transcribeTimeout: number | 'auto';
  /** Whether chats under /v1 without tools of their own are offered ours (COMPAT_TOOLS). */
  readonly compatTools: boolean;
  /** Output items of responses under /v1, for later requests; undefined where none are kept (COMPAT_ITEMS). */
  readonly items: ItemStore | undefined;
  /** Model ids that apps hard-code and the entries that they mean under /v1 (compatAliases). */
  readonly compatAliases: ReadonlyMap<string, string>;
  /** Absent: they are off. */
  readonly metrics?: Metrics | undefined;
}
