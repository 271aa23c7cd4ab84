import { EngineError, type Feature, type TranscriptionCall } from '../contract/index.ts';
import type { ModelOptions } from './options.ts';

export type ResponseFormat = 'json' | 'verbose_json' | 'diarized_json';

export interface Model {
  readonly id: string;
  readonly name: string | undefined;
  readonly remoteId: string;
  /** Times only as long as the provider is not known to reject verbose_json, which has them. */
  readonly supports: () => readonly Feature[];
  /** The format to ask for now. */
  readonly format: () => ResponseFormat;
  /** Takes note that the provider refuses this format; returns the one to ask for instead, if the settings leave it open. */
  readonly refused: (format: ResponseFormat) => ResponseFormat | undefined;
  /** Whether its answers say how long a recording is, going by the last one. */
  saysDuration: boolean;
  /** Throws if the settings rule the call out. */
  readonly check: (call: TranscriptionCall) => void;
}

export function toModel(options: string | ModelOptions): Model {
  const given: ModelOptions = typeof options === 'string' ? { id: options } : options;
  const { id, remoteId = id, name, responseFormat = 'auto', languages, maxBytes = Infinity } = given;
  // The only way to learn what a model can do is to ask for it, so every model begins with the fuller answer.
  let format: ResponseFormat = responseFormat === 'auto' ? 'verbose_json' : responseFormat;
  const { supports = defaultFeatures(remoteId) } = given;
  const withoutTimes = supports.filter((feature) => feature !== 'segment' && feature !== 'word');
  return {
    id,
    name,
    remoteId,
    saysDuration: true,
    supports: () => (format === 'verbose_json' ? supports : withoutTimes),
    format: () => format,
    refused(refusedFormat) {
      if (responseFormat !== 'auto' || refusedFormat === 'json') return undefined;
      format = 'json';
      return format;
    },
    check({ recording, language }) {
      if (recording.bytes > maxBytes) {
        const sizes = `${String(maxBytes)} bytes; this one has ${String(recording.bytes)}`;
        throw new EngineError('recording-too-large', `The model ${id} takes recordings of at most ${sizes}.`);
      }
      if (language !== undefined && languages !== undefined && !languages.includes(language)) {
        const known = languages.join(', ');
        throw new EngineError('language-not-supported', `The model ${id} knows ${known}, not "${language}".`);
      }
    },
  };
}

/** All servers of Whisper return times; of other models only the operator knows. */
function defaultFeatures(remoteId: string): readonly Feature[] {
  return ['prompt', 'temperature', ...(/whisper/i.test(remoteId) ? (['segment', 'word'] as const) : [])];
}
