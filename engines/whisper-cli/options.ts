import type { OptionsSchema } from '../contract/index.ts';

export interface Options {
  readonly program?: string;
  readonly models: readonly ModelOptions[];
  readonly slots?: number;
  readonly threads?: number;
  readonly waiting?: number;
  readonly mirror?: string;
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
    program: { ...text, description: 'Path of whisper-cli. Default: WHISPER_CLI, then PATH, then the data directory.' },
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
            pattern: '^[a-z]{2}$',
            description: 'Used when a request names no language. Default: detect it.',
          },
          vad: { ...text, description: 'Path of a Silero VAD model (ggml), which removes silence and noise.' },
        },
      },
    },
    slots: { ...count, description: 'Concurrent transcriptions. Default: half of the cores, at least 1.' },
    threads: { ...count, description: 'Threads per transcription. Default: cores divided by slots.' },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting requests. Default: 16.',
    },
    mirror: { ...text, pattern: '^https?://', description: 'Base URL of a mirror for model downloads.' },
  },
};
