import type { OptionsSchema } from '../contract/index.ts';
import { speakersOption, type SpeakersOptions } from '../lib/speakers/options.ts';
import { pulledOption } from '../lib/local-models.ts';
import { catalog } from './catalog.ts';
import { families, type ModelKind } from './families.ts';

export interface Options {
  readonly models?: readonly ModelOptions[];
  readonly runtime?: string;
  readonly threads?: number;
  readonly slots?: number;
  readonly waiting?: number;
  readonly idleUnload?: number;
  readonly mirror?: string;
  readonly pulled?: boolean;
  readonly speakers?: SpeakersOptions;
}

export interface ModelOptions {
  readonly id: string;
  readonly kind?: ModelKind;
  readonly folder: string;
  readonly name?: string;
  readonly language?: string;
}

const text = { type: 'string', minLength: 1 } as const;
const label = { ...text, maxLength: 256 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1024 } as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    models: {
      type: 'array',
      minItems: 1,
      description: `The models to serve. Default: none but those of the catalog (${catalog.ids.join(', ')}) with \`pulled\`.`,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'folder'],
        properties: {
          id: { ...label, description: 'Model id used in requests.' },
          kind: {
            type: 'string',
            enum: Object.keys(families),
            description: 'Family of the model. Default: recognized by the files.',
          },
          folder: { ...text, description: 'Path of the folder with the files of the model.' },
          name: { ...label, description: 'Display name. Default: id.' },
          language: {
            type: 'string',
            pattern: '^[a-z]{2}$',
            description:
              'The language that the model transcribes; requests for another language are rejected. Default: those that its files name.',
          },
        },
      },
    },
    runtime: {
      ...text,
      description:
        'Directory with node_modules/sherpa-onnx-node. Default: VOICE_RUNTIME, then a package next to Parlance, then that of `npm run setup -- stt`.',
    },
    threads: { ...count, description: 'Threads per recording. Default: 1.' },
    slots: { ...count, description: 'Concurrent transcriptions. Default: half of the cores, at least 1.' },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting requests. Default: 32.',
    },
    idleUnload: {
      type: 'integer',
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds without a recording after which a model is unloaded; 0: never. Default: 300.',
    },
    pulled: pulledOption,
    speakers: speakersOption,
    mirror: {
      ...text,
      pattern: '^https?://',
      description: 'Base URL of a mirror of huggingface.co for models of the catalog.',
    },
  },
};
