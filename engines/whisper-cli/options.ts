import type { OptionsSchema } from '../contract/index.ts';
import { pulledOption } from '../lib/local-models.ts';

export interface Options {
  readonly program?: string;
  readonly models: readonly ModelOptions[];
  readonly slots?: number;
  readonly threads?: number;
  readonly waiting?: number;
  readonly mirror?: string;
  readonly pulled?: boolean;
  readonly keepLoaded?: boolean;
  readonly idleUnload?: number;
  readonly preload?: boolean;
  readonly audioContext?: 'auto' | 'full';
  readonly voiceActivity?: 'auto' | 'off';
}

export interface ModelOptions {
  readonly id: string;
  readonly file: string;
  readonly name?: string;
  readonly language?: string;
  readonly vad?: string;
}

const text = { type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1024 } as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['models'],
  properties: {
    program: {
      ...text,
      description:
        'Path of whisper-cli. Default: WHISPER_CLI, then the npm package for this platform, then PATH, then DATA_DIR/bin.',
    },
    models: {
      type: 'array',
      minItems: 1,
      description: 'The models to serve.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'file'],
        properties: {
          id: { ...text, maxLength: 256, description: 'Model id used in requests.' },
          file: { ...text, description: 'Path of the ggml model file.' },
          name: { ...text, description: 'Display name. Default: id.' },
          language: {
            type: 'string',
            pattern: '^([a-z]{2}|haw|yue)$',
            description: 'Used when a request names no language. Default: detected.',
          },
          vad: { ...text, description: 'Path of a Silero VAD model (ggml), which removes silence and noise.' },
        },
      },
    },
    slots: { ...count, description: 'Concurrent transcriptions. Default: half of the cores, at least 1.' },
    threads: {
      ...count,
      description: 'Threads per transcription. Default: the cores that other transcriptions leave free.',
    },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting requests. Default: 16.',
    },
    keepLoaded: {
      type: 'boolean',
      description: 'Keep models in memory between recordings, within MEMORY_BUDGET. Default: true.',
    },
    idleUnload: {
      type: 'integer',
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds without a recording after which a model is unloaded; 0: never. Default: 300.',
    },
    preload: { type: 'boolean', description: 'Load the models when the service starts. Default: false.' },
    audioContext: {
      type: 'string',
      enum: ['auto', 'full'],
      description:
        'auto: limits the encoder context of recordings shorter than 30 s to their length, which is faster but may lose words. Default: full.',
    },
    voiceActivity: {
      type: 'string',
      enum: ['auto', 'off'],
      description:
        'auto: transcribes only speech, once the start or `npm run setup` has installed the detector. off: transcribes everything, for singing and whispering. Default: auto.',
    },
    pulled: pulledOption,
    mirror: { ...text, pattern: '^https?://', description: 'Base URL of a mirror for model downloads.' },
  },
};
