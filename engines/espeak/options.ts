import type { OptionsSchema } from '../contract/index.ts';

export interface Options {
  readonly program?: string;
  readonly id?: string;
  readonly name?: string;
  readonly voice?: string;
  readonly slots?: number;
  readonly waiting?: number;
}

const text = { type: 'string', minLength: 1, maxLength: 256 } as const;

export const optionsSchema: OptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    program: {
      type: 'string',
      minLength: 1,
      description: 'Path of espeak-ng. Default: found on PATH, or else the package @echogarden/espeak-ng-emscripten.',
    },
    id: { ...text, description: 'Model id used in requests. Default: espeak.' },
    name: { ...text, description: 'Display name. Default: eSpeak NG.' },
    voice: { ...text, description: 'Default voice, if a request names neither voice nor language. Default: en.' },
    slots: { type: 'integer', minimum: 1, maximum: 1024, description: 'Concurrent syntheses. Default: two per core.' },
    waiting: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      description: 'Maximum number of waiting requests. Default: 64.',
    },
  },
};
