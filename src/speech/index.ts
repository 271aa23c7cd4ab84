/** Creates the components for speech: model selection, clips, and the spool for direct speech. */
import type { EngineContext, Logger } from '../../engines/contract/index.ts';
import { clipLimits, createClipStore } from '../clips/store.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { LoadedSettings } from '../settings/load.ts';
import { largestSpeech } from '../system/disk-budget.ts';
import type { Workspace } from '../system/workspace.ts';
import { createSpeechModelSelector } from './speech-models.ts';
import { createSpeechSpool } from './speech-spool.ts';

export interface SpeechOptions {
  readonly settings: Pick<LoadedSettings, 'ttsVoice'>;
  readonly tuning: { readonly clipKeepMs: number; readonly clipUnreadMs: number };
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly encode: EngineContext['encode'];
  /** Prefix of the ids of clips. */
  readonly idPrefix: string | undefined;
  readonly metrics: Metrics | undefined;
  readonly log: Logger;
}

/** All clips share one holder in the disk budget; the clip store divides the space among callers. */
const clipStore = Symbol('clips');

export function openSpeech({ settings, tuning, registry, workspace, encode, idPrefix, metrics, log }: SpeechOptions) {
  const { bytes } = workspace.disk;
  return {
    speakers: createSpeechModelSelector({ registry, defaultVoice: settings.ttsVoice, encode, metrics }),
    clips: createClipStore({
      directory: () => workspace.accountedDirectory('clip', { holder: clipStore }),
      limits: { ...clipLimits(bytes), keepMs: tuning.clipKeepMs, unreadMs: tuning.clipUnreadMs },
      ...{ idPrefix, log },
    }),
    speechSpool: createSpeechSpool({
      directory: () => workspace.accountedDirectory('speech', { limit: largestSpeech(bytes) }),
      log,
    }),
  };
}
