import type { OptionsSchema } from '../contract/index.ts';
import {
  idOrMapping,
  modelProperties,
  providerProperties,
  shortText,
  type ProviderOptions,
} from '../lib/provider/options.ts';
import { apiNames, remoteFormats, type RemoteFormat } from './apis.ts';

export interface Options extends ProviderOptions {
  readonly models: readonly (string | ModelOptions)[];
  readonly api?: (typeof apiNames)[number];
  readonly path?: string;
  /** Seconds. */
  readonly idleTimeout?: number;
}

export interface ModelOptions {
  readonly id: string;
  readonly remoteId?: string;
  readonly name?: string;
  readonly voices?: readonly (string | VoiceOptions)[];
  readonly defaultVoice?: string;
  readonly maxCharacters?: number;
  readonly formats?: readonly RemoteFormat[];
  readonly sampleRate?: number;
  readonly instructions?: string;
}

export interface VoiceOptions {
  readonly id: string;
  readonly name?: string;
  readonly language?: string;
}

const voice = {
  ...idOrMapping,
  properties: {
    id: { ...shortText, description: 'As requests name it, and the provider.' },
    name: modelProperties.name,
    language: {
      type: 'string',
      pattern: '^[a-z]{2}$',
      description: 'ISO 639-1; absent: it speaks several.',
    },
  },
};

const model = {
  ...idOrMapping,
  properties: {
    ...modelProperties,
    voices: {
      type: 'array',
      minItems: 1,
      items: voice,
      description: 'A request for another one is refused. Absent: the provider decides.',
    },
    defaultVoice: { ...shortText, description: 'For requests that name none; absent: the first of the voices.' },
    maxCharacters: {
      type: 'integer',
      minimum: 50,
      description: 'The longest text that the provider takes; longer ones go in pieces. Absent: 4096.',
    },
    formats: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: remoteFormats },
      description:
        'What the provider can answer with; the first of pcm and wav is what other formats and long texts are made of. ' +
        'Absent: [pcm, mp3, opus]. Groq, for one, has [wav].',
    },
    sampleRate: {
      type: 'integer',
      minimum: 8000,
      maximum: 48_000,
      description: 'Of pcm, samples per second; absent: 24000. A wav says its own.',
    },
    instructions: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      description: 'How to speak, for models that can be told (gpt-4o-mini-tts).',
    },
  },
};

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['baseUrl', 'models'],
  properties: {
    ...providerProperties,
    timeout: {
      ...providerProperties.timeout,
      description: 'Seconds until the first audio of a piece of the text, retries included; absent: 300.',
    },
    idleTimeout: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: 'Seconds that the audio may pause; absent: 60.',
    },
    api: {
      type: 'string',
      enum: apiNames,
      description: 'How the provider is spoken to; absent: openai. parlance is another Parlance.',
    },
    path: {
      type: 'string',
      pattern: '^/[^?#\\s]*$',
      description: 'Of the operation, behind baseUrl; absent: /audio/speech, for another Parlance /tts.',
    },
    models: {
      type: 'array',
      minItems: 1,
      items: model,
      description: 'The models that are served: the provider’s ids, or a mapping where there is more to say.',
    },
  },
};
