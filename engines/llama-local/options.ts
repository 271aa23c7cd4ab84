import type { OptionsSchema } from '../contract/index.ts';
import { pulledOption } from '../lib/local-models.ts';
import { catalog } from './catalog.ts';

export interface Options {
  readonly models?: readonly (string | ModelOptions)[];
  readonly runtime?: string;
  readonly contextSize?: number;
  readonly reasoning?: boolean | number;
  readonly threads?: number;
  readonly slots?: number;
  readonly waiting?: number;
  readonly idleUnload?: number;
  readonly timeout?: number;
  readonly maxSteps?: number;
  readonly gpu?: boolean | string;
  readonly mirror?: string;
  readonly pulled?: boolean;
}

/** Set either `file` or `model`. */
export interface ModelOptions {
  readonly id: string;
  readonly file?: string;
  readonly model?: string;
  readonly name?: string;
}

export const defaultModels = ['qwen3-0.6b'];

const text = { type: 'string', minLength: 1 } as const;
const label = { ...text, maxLength: 256 } as const;
const seconds = { type: 'integer', minimum: 0, maximum: 86_400 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1024 } as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    models: {
      type: 'array',
      minItems: 1,
      description: `The models to serve: ids of the catalog (${catalog.ids.join(', ')}), or GGUF files. Default: [${defaultModels.join(', ')}].`,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        maxLength: 256,
        additionalProperties: false,
        required: ['id'],
        properties: {
          id: { ...label, description: 'Model id used in requests.' },
          file: { ...text, description: 'Path of a .gguf file that is not split.' },
          model: { ...label, description: 'Id of a model of the catalog, instead of `file`.' },
          name: { ...label, description: 'Display name.' },
        },
      },
    },
    runtime: {
      ...text,
      description:
        'Directory with node_modules/node-llama-cpp. Default: a package next to Parlance, then that of `npm run setup -- chat`.',
    },
    contextSize: {
      type: 'integer',
      minimum: 256,
      maximum: 1_048_576,
      description: 'Maximum tokens of a conversation with its answer; memory grows with it. Default: 4096.',
    },
    reasoning: {
      type: ['boolean', 'integer'],
      minimum: 1,
      maximum: 1_048_576,
      description:
        'Whether a model may reason before it answers, or the maximum reasoning tokens. `true`: 512. Default: false.',
    },
    threads: { ...count, description: 'Threads per model. Default: half of the cores, at least 1.' },
    slots: { ...count, description: 'Concurrent answers; each has its own context in memory. Default: 1.' },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting answers. Default: 8.',
    },
    idleUnload: {
      ...seconds,
      description: 'Seconds without a request after which a model is unloaded; 0: never. Default: 600.',
    },
    timeout: { ...seconds, minimum: 1, description: 'Timeout of one answer of the model in seconds. Default: 600.' },
    maxSteps: { ...count, description: 'Maximum number of model responses per run. Default: 8.' },
    gpu: {
      type: ['boolean', 'string'],
      enum: [false, 'auto', 'cuda', 'vulkan', 'metal'],
      description: 'GPU backend; requires the node-llama-cpp packages for it in `runtime`. Not tested. Default: false.',
    },
    pulled: pulledOption,
    mirror: {
      ...text,
      pattern: '^https?://',
      description: 'Base URL of a mirror of huggingface.co for models of the catalog.',
    },
  },
};
