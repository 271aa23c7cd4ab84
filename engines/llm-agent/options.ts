import type { OptionsSchema } from '../contract/index.ts';
import {
  idOrMapping,
  modelProperties,
  providerProperties,
  shortText,
  type ProviderOptions,
} from '../lib/provider/options.ts';

export const apis = ['chat', 'responses'] as const;
export const limitParams = ['max_tokens', 'max_completion_tokens'] as const;

/** What is set for the provider, and for a model where it differs. */
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
}

const dialectProperties = {
  api: {
    type: 'string',
    enum: apis,
    description: 'chat: /chat/completions, which every provider has; responses: /responses. Absent: chat.',
  },
  maxTokensParam: {
    type: 'string',
    enum: limitParams,
    description:
      'The field of the limit, for api chat; absent: max_tokens, until a model refuses it and takes the other one.',
  },
  replayReasoning: {
    type: 'boolean',
    description: 'Whether a model that calls tools gets its own reasoning back with their results; absent: true.',
  },
  dropParams: {
    type: 'array',
    // What makes a request one is not to be dropped.
    items: { type: 'string', pattern: '^(?!(?:model|messages|input|stream)$)[a-z_]{1,64}$' },
    description: 'Fields that are never sent, such as stream_options or temperature.',
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
      description: 'Seconds that one answer of the provider may take, from the request to its end; absent: 600.',
    },
    idleTimeout: {
      ...providerProperties.timeout,
      description: 'Seconds without a byte after which an answer that has begun is given up; absent: 120.',
    },
    models: {
      type: 'array',
      minItems: 1,
      description:
        'The models that are served: the provider’s ids, or a mapping where there is more to say. Absent: those that the provider lists.',
      items: {
        ...idOrMapping,
        properties: {
          ...modelProperties,
          ...dialectProperties,
        },
      },
    },
    discover: {
      type: 'boolean',
      description: 'Whether the models that the provider lists are served too; absent: only when `models` is absent.',
    },
    modelFilter: {
      type: 'array',
      minItems: 1,
      items: shortText,
      description:
        'Which of the listed models are served: ids, in which * stands for anything; "!" before one takes out what it matches. Absent: all but those whose names say that they do not chat (embeddings, speech, pictures).',
    },
    maxSteps: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: 'Rounds of a run, each an answer of the model; in the last one it may call no tool. Absent: 8.',
    },
  },
};
