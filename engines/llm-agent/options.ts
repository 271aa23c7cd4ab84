import type { OptionsSchema } from '../contract/index.ts';
import {
  idOrMapping,
  modelProperties,
  providerProperties,
  shortText,
  type ProviderOptions,
} from '../lib/provider/options.ts';

export const apis = ['chat', 'responses'] as const;
/** Features of models that only the operator knows. */
export const optionalFeatures = ['images'] as const;
export const limitParams = ['max_tokens', 'max_completion_tokens'] as const;

/** Options of the provider. A model may override each of them. */
export interface DialectOptions {
  readonly api?: (typeof apis)[number];
  readonly maxTokensParam?: (typeof limitParams)[number];
  readonly replayReasoning?: boolean;
  readonly dropParams?: readonly string[];
}

export interface Options extends ProviderOptions, DialectOptions {
  readonly models?: readonly (string | ModelOptions)[];
  readonly discover?: boolean;
  readonly modelFilter?: readonly string[];
  readonly maxSteps?: number;
  readonly idleTimeout?: number;
}

export interface ModelOptions extends DialectOptions {
  readonly id: string;
  readonly remoteId?: string;
  readonly name?: string;
  readonly supports?: readonly (typeof optionalFeatures)[number][];
}

const dialectProperties = {
  api: {
    type: 'string',
    enum: apis,
    description: 'chat: /chat/completions, which every provider has; responses: /responses. Default: chat.',
  },
  maxTokensParam: {
    type: 'string',
    enum: limitParams,
    description:
      'Name of the token limit field, for api chat. Default: max_tokens, with a fallback to the other one if a model rejects it.',
  },
  replayReasoning: {
    type: 'boolean',
    description:
      'Whether the reasoning of a model that calls tools is sent back to it with the tool results. Default: true.',
  },
  dropParams: {
    type: 'array',
    // Required fields cannot be dropped.
    items: { type: 'string', pattern: '^(?!(?:model|messages|input|stream)$)[a-z_]{1,64}$' },
    description: 'Request fields that are never sent, such as stream_options or temperature.',
  },
} as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['baseUrl'],
  properties: {
    ...providerProperties,
    ...dialectProperties,
    timeout: {
      ...providerProperties.timeout,
      description: 'Timeout in seconds of one response of the provider, from the request to its end. Default: 600.',
    },
    idleTimeout: {
      ...providerProperties.timeout,
      description: 'Idle timeout in seconds within a response. Default: 120.',
    },
    models: {
      type: 'array',
      minItems: 1,
      description:
        "The models to serve: the provider's ids, or mappings with more options. Default: the models that the provider lists.",
      items: {
        ...idOrMapping,
        properties: {
          ...modelProperties,
          ...dialectProperties,
          supports: {
            type: 'array',
            items: { type: 'string', enum: optionalFeatures },
            description: 'images: the model accepts images in messages. Default: none.',
          },
        },
      },
    },
    discover: {
      type: 'boolean',
      description: 'Whether to serve the models that the provider lists. Default: only if `models` is absent.',
    },
    modelFilter: {
      type: 'array',
      minItems: 1,
      items: shortText,
      description:
        'Filter for the listed models: ids with * as a wildcard; a leading "!" excludes. Default: all except those whose names show that they are not chat models (embeddings, speech, images).',
    },
    maxSteps: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: 'Maximum number of model responses per run; the last one may not call tools. Default: 8.',
    },
  },
};
