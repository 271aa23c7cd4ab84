import type { Feature, OptionsSchema } from '../contract/index.ts';
import { idOrMapping, modelProperties, providerProperties, type ProviderOptions } from '../lib/provider/options.ts';

export const responseFormats = ['auto', 'json', 'verbose_json'] as const;

/** Optional features of a model. */
export const modelFeatures = [
  'prompt',
  'temperature',
  'segment',
  'word',
  'keywords',
  'languages',
  'translate',
  'diarize',
] as const satisfies readonly Feature[];

export interface Options extends ProviderOptions {
  readonly models: readonly (string | ModelOptions)[];
  readonly path?: string;
}

export interface ModelOptions {
  readonly id: string;
  readonly remoteId?: string;
  readonly name?: string;
  readonly responseFormat?: (typeof responseFormats)[number];
  readonly languages?: readonly string[];
  readonly maxBytes?: number;
  readonly supports?: readonly (typeof modelFeatures)[number][];
}

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['baseUrl', 'models'],
  properties: {
    ...providerProperties,
    path: {
      type: 'string',
      pattern: '^/[^?#\\s]*$',
      description:
        'Path of the endpoint below baseUrl. Default: /audio/transcriptions; for another Parlance use /transcribe.',
    },
    models: {
      type: 'array',
      minItems: 1,
      description: "The models to serve: the provider's ids, or mappings with more options.",
      items: {
        ...idOrMapping,
        properties: {
          ...modelProperties,
          responseFormat: {
            type: 'string',
            enum: responseFormats,
            description:
              'auto requests language and duration (verbose_json), and falls back to json if the model rejects that.',
          },
          languages: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', pattern: '^([a-z]{2}|haw|yue)$' },
            description:
              'Supported languages (ISO 639-1); requests for others are rejected. Default: the provider decides.',
          },
          maxBytes: {
            type: 'integer',
            minimum: 1,
            description: 'Maximum size of a recording in bytes; larger ones are rejected without being sent.',
          },
          supports: {
            type: 'array',
            items: { type: 'string', enum: modelFeatures },
            description:
              'Features of the model: a prompt, a temperature, timestamps of segments and words (verbose_json), keywords ' +
              '(keywords[]), languages (languages[] instead of language), translate (the endpoint /audio/translations) ' +
              'and diarize (diarized_json). Default: prompt and temperature; segment and word too if the id contains ' +
              '"whisper", keywords and languages if it begins with "gpt-transcribe". List what other models have, such ' +
              "as another Parlance's over /v1.",
          },
        },
      },
    },
  },
};
