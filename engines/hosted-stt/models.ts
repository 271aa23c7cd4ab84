import { EngineError, type Feature, type TranscriptionCall } from '../contract/index.ts';
import type { ModelOptions } from './options.ts';

export type ResponseFormat = 'json' | 'verbose_json' | 'diarized_json';

export interface Model {
  readonly id: string;
  readonly name: string | undefined;
  readonly remoteId: string;
  /** Undefined: the provider decides. */
  readonly languages: readonly string[] | undefined;
  /** Includes timestamps only while `format()` is verbose_json, which contains them. */
  readonly supports: () => readonly Feature[];
  /** The response format to request now. */
  readonly format: () => ResponseFormat;
  /**
   * Records that the provider rejects this format. Returns the format to request instead; undefined if the settings fix
   * the format, or if json itself was rejected.
   */
  readonly refused: (format: ResponseFormat) => ResponseFormat | undefined;
  /** Whether its responses contain the duration of the recording, judging by the last one. */
  saysDuration: boolean;
  /** The languages for `languages[]`; undefined: the model takes one in `language`. */
  readonly languagesFor: (call: TranscriptionCall) => readonly string[] | undefined;
  /** True once it was logged that the provider rejects a language. */
  hasWarned: boolean;
  /** Throws if the settings do not allow the call. */
  readonly check: (call: TranscriptionCall) => void;
}

export function toModel(options: string | ModelOptions): Model {
  const given: ModelOptions = typeof options === 'string' ? { id: options } : options;
  const { id, remoteId = id, name, responseFormat = 'auto', languages, maxBytes = Infinity } = given;
  // Only a request shows what a model supports, so every model begins with the format that contains more.
  let format: ResponseFormat = responseFormat === 'auto' ? 'verbose_json' : responseFormat;
  const { supports = defaultFeatures(remoteId) } = given;
  const withoutTimes = supports.filter((feature) => feature !== 'segment' && feature !== 'word');
  return {
    id,
    name,
    remoteId,
    languages,
    saysDuration: true,
    hasWarned: false,
    languagesFor({ language, languages: hints = [] }) {
      if (!supports.includes('languages')) return undefined;
      return language === undefined ? hints.filter((hint) => languages?.includes(hint) ?? true) : [language];
    },
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
        throw new EngineError('recording-too-large', `The model ${id} accepts recordings of at most ${sizes}.`);
      }
      if (language !== undefined && languages !== undefined && !languages.includes(language)) {
        const known = languages.join(', ');
        throw new EngineError('language-not-supported', `The model ${id} supports ${known}, not "${language}".`);
      }
    },
  };
}

/** All Whisper servers return timestamps. For other models, the operator must list timestamps in `supports`. */
function defaultFeatures(remoteId: string): readonly Feature[] {
  const times = /whisper/i.test(remoteId) ? (['segment', 'word'] as const) : [];
  const hints = remoteId.startsWith('gpt-transcribe') ? (['keywords', 'languages'] as const) : [];
  return ['prompt', 'temperature', ...times, ...hints];
}
