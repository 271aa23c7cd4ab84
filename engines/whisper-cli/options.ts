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
    program: { ...text, description: 'The whisper-cli program; absent: WHISPER_CLI, PATH, then the data directory.' },
    models: {
      type: 'array',
      minItems: 1,
      description: 'The models that are served, side by side.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'file'],
        properties: {
          id: { ...text, maxLength: 256, description: 'As requests name it.' },
          file: { ...text, description: 'The ggml file.' },
          name: { ...text, description: 'For people; the id when absent.' },
          language: {
            type: 'string',
            pattern: '^[a-z]{2}$',
            description: 'Taken when a request names none, instead of detecting it.',
          },
          vad: { ...text, description: 'A Silero VAD model (ggml): leaves out what is no speech.' },
        },
      },
    },
    slots: { ...count, description: 'Transcriptions at once; absent: half of the cores, at least 1.' },
    threads: { ...count, description: 'Threads of each; absent: the cores divided by the slots.' },
    waiting: { type: 'integer', minimum: 0, maximum: 10_000, description: 'Requests that may wait; absent: 16.' },
    mirror: { ...text, pattern: '^https?://', description: 'Base URL to download models from, instead of upstream.' },
  },
};
