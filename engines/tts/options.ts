import type { OptionsSchema } from '../contract/index.ts';
import {
  idOrMapping,
  modelProperties,
  providerProperties,
  shortText,
  type ProviderOptions,
} from '../lib/provider/options.ts';
import { apiNames, remoteFormats, speechFeatures, type RemoteFormat, type SpeechFeature } from './apis.ts';

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
  readonly supports?: readonly SpeechFeature[];
}

export interface VoiceOptions {
  readonly id: string;
  readonly name?: string;
  readonly language?: string;
}

const voice = {
  ...idOrMapping,
  properties: {
    id: { ...shortText, description: 'Voice id used in requests and by the provider.' },
    name: modelProperties.name,
    language: {
      type: 'string',
      pattern: '^[a-z]{2}$',
      description: 'ISO 639-1. Default: the voice speaks several languages.',
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
      description: 'Requests for other voices are rejected. Default: the provider decides.',
    },
    defaultVoice: {
      ...shortText,
      description: 'Used when a request names no voice. Default: the first one.',
    },
    maxCharacters: {
      type: 'integer',
      minimum: 50,
      description:
        'Maximum text length of a request to the provider; longer texts are split. Default: 4096, or 32000 for another Parlance.',
    },
    formats: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: remoteFormats },
      description:
        'Formats that the provider supports; other formats and long texts are encoded from the first of pcm and wav. ' +
        'Default: [pcm, mp3, opus], [wav, mp3] for Mistral, all for another Parlance. Example: Groq has [wav].',
    },
    sampleRate: {
      type: 'integer',
      minimum: 8000,
      maximum: 48_000,
      description: 'Sample rate of pcm in Hz. Default: 24000. A wav contains its own.',
    },
    instructions: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      description: 'Speaking instructions, for models that support them. Those of a request take precedence.',
    },
    supports: {
      type: 'array',
      uniqueItems: true,
      items: { type: 'string', enum: speechFeatures },
      description:
        'Optional features of the model. Default: both for the API openai (tts-1 has only speed), ' +
        'none for the others.',
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
      description:
        'Timeout in seconds until the first audio of each part of the text, including retries. Default: 300.',
    },
    idleTimeout: {
      ...providerProperties.timeout,
      description: 'Idle timeout of the audio in seconds. Default: 60.',
    },
    api: {
      type: 'string',
      enum: apiNames,
      description: 'API of the provider; parlance is another Parlance. Default: openai.',
    },
    path: {
      type: 'string',
      pattern: '^/[^?#\\s]*$',
      description: 'Path of the endpoint below baseUrl. Default: /audio/speech, or /tts for another Parlance.',
    },
    models: {
      type: 'array',
      minItems: 1,
      items: model,
      description: "The models to serve: the provider's ids, or mappings with more options.",
    },
  },
};
