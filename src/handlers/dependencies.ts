/** The dependencies of handlers, passed as an argument. */
import type { Registry } from '../engine-host/registry/registry.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ItemStore } from '../chat/item-store.ts';
import type { Clips } from '../clips/store.ts';
import type { Preparations } from '../engine-host/assets/preparations.ts';
import type { Jobs } from '../jobs/store.ts';
import type { ClientSecrets } from '../keys/client-secrets.ts';
import type { RefusePreparing } from '../keys/preparing.ts';
import type { SpeechModelSelector } from '../speech/speech-models.ts';
import type { SpeechSpool } from '../speech/speech-spool.ts';
import type { SpeechServices } from '../realtime/speech-session.ts';
import type { RequestServices } from '../transcription/speakers/index.ts';
import type { Toolbox } from '../tools/toolbox.ts';

export interface Services {
  readonly registry: Registry;
  readonly tools: Toolbox;
  /** Selects speech models for direct speech and for read_aloud. */
  readonly speakers: SpeechModelSelector;
  /** Audio with its own URL, created by read_aloud and `POST /tts/clips`. */
  readonly clips: Clips;
  /** Transcription jobs for long recordings. */
  readonly jobs: Jobs;
  /** The assets that can be installed on this machine. */
  readonly preparations: Preparations;
  readonly refusePreparing: RefusePreparing;
  /** Decodes a recording for work that the service itself does with it. */
  readonly decode: RequestServices['decode'];
  /** Stores the audio of live transcription. */
  readonly workspace: SpeechServices['workspace'];
  readonly allowTurn: NonNullable<SpeechServices['allowTurn']>;
  readonly requireBudget: NonNullable<SpeechServices['requireBudget']>;
  /** PARLANCE_SANDBOX. */
  readonly sandbox: boolean;
  /** Buffers direct speech on disk until its caller has read it. */
  readonly speechSpool: SpeechSpool;
  /** Returns the URL of a path below the API root: absolute if PUBLIC_URL is set, otherwise only the path. */
  readonly linkTo: (path: string) => string;
  /** Maximum time in milliseconds that an event stream delays its response head while the provider has not answered. */
  readonly streamHoldMs: number;
  readonly transcribeEnabled: boolean;
  /** Timeout of a transcription after its upload, in seconds (TRANSCRIBE_TIMEOUT). */
  readonly transcribeTimeout: number | 'auto';
  /** Whether chats under /v1 get the tools of the service if the caller sends none (COMPAT_TOOLS). */
  readonly compatTools: boolean;
  /** REALTIME. */
  readonly realtimeEnabled: boolean;
  readonly clientSecrets: Pick<ClientSecrets, 'create'>;
  /** Output items of responses under /v1, to which later requests can refer; undefined if COMPAT_ITEMS is off. */
  readonly items: ItemStore | undefined;
  /** Maps model ids that apps hard-code under /v1 to entries (compatAliases). */
  readonly compatAliases: ReadonlyMap<string, string>;
  /** Absent if metrics are off. */
  readonly metrics?: Metrics | undefined;
}
