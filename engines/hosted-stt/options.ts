import type { OptionsSchema } from '../contract/index.ts';
import { idOrMapping, modelProperties, providerProperties, type ProviderOptions } from '../lib/provider/options.ts';

export const responseFormats = ['auto', 'json', 'verbose_json'] as const;

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
      description: 'Of the operation, behind baseUrl; absent: /audio/transcriptions. Another Parlance has /transcribe.',
    },
    models: {
      type: 'array',
      minItems: 1,
      description: 'The models that are served: the provider’s ids, or a mapping where there is more to say.',
      items: {
        ...idOrMapping,
        properties: {
          ...modelProperties,
          responseFormat: {
            type: 'string',
            enum: responseFormats,
            description:
              'auto asks for language and duration (verbose_json), until the model turns out not to give them.',
          },
          languages: {
            type: 'array',
            minItems: 1,
            items: { type: 'string', pattern: '^[a-z]{2}$' },
            description: 'ISO 639-1; a request for another one is refused. Absent: the provider decides.',
          },
          maxBytes: {
            type: 'integer',
            minimum: 1,
            description: 'The largest recording that the provider takes; a larger one is refused without being sent.',
          },
        },
      },
    },
  },
};
