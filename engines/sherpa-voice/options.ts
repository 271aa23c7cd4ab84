import type { OptionsSchema } from '../contract/index.ts';
import { pulledOption } from '../lib/local-models.ts';
import { catalog } from './catalog.ts';

export interface Options {
  readonly voices?: readonly (string | VoiceOptions)[];
  readonly runtime?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly voice?: string;
  readonly threads?: number;
  readonly slots?: number;
  readonly waiting?: number;
  readonly idleUnload?: number;
  readonly sentencePause?: number;
  readonly mirror?: string;
  readonly pulled?: boolean;
}

export interface VoiceOptions {
  readonly id?: string;
  readonly file?: string;
  readonly folder?: string;
  readonly name?: string;
}

export const defaultVoices = ['en_US-ljspeech-medium'];

const text = { type: 'string', minLength: 1 } as const;
const label = { ...text, maxLength: 256 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1024 } as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    voices: {
      type: 'array',
      minItems: 1,
      description: `The voices to serve: ids of the catalog (${catalog.ids.join(', ')}), or files or folders. Default: [${defaultVoices.join(', ')}].`,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        maxLength: 256,
        additionalProperties: false,
        properties: {
          id: {
            ...label,
            description:
              'Voice id used in requests; with several speakers, `id/speaker`. Default: the name of the file or folder.',
          },
          file: { ...text, description: 'Path of the .onnx file of a Piper voice, with its .onnx.json next to it.' },
          folder: {
            ...text,
            description:
              'Path of a folder with the files of Kokoro, Kitten, Supertonic or Piper, instead of `file`. The family is recognized by the files.',
          },
          name: {
            ...label,
            description: 'Display name. Default: the name in the .onnx.json or of the family, and the language.',
          },
        },
      },
    },
    runtime: {
      ...text,
      description:
        'Directory with node_modules/sherpa-onnx-node. Default: VOICE_RUNTIME, then a package next to Parlance, then that of `npm run setup -- voice`.',
    },
    data: {
      ...text,
      description:
        'An espeak-ng-data directory. Default: that of the installed espeak-ng, then of @echogarden/espeak-ng-emscripten.',
    },
    id: { ...label, description: 'Model id used in requests. Default: local-voice.' },
    name: { ...label, description: 'Display name. Default: Local voice.' },
    voice: { ...label, description: 'Default voice. Default: the first one.' },
    threads: { ...count, description: 'Threads per sentence. More than one is rarely worth the CPU time. Default: 1.' },
    slots: { ...count, description: 'Sentences synthesized concurrently. Default: half of the cores, at least 1.' },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting sentences. Default: 32.',
    },
    idleUnload: {
      type: 'integer',
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds without a request after which a voice is unloaded; 0: never. Default: 300.',
    },
    sentencePause: {
      type: 'integer',
      minimum: 0,
      maximum: 5_000,
      description: 'Milliseconds of silence between two sentences. Default: 200.',
    },
    pulled: pulledOption,
    mirror: {
      ...text,
      pattern: '^https?://',
      description: 'Base URL of a mirror of huggingface.co for voices of the catalog.',
    },
  },
};
