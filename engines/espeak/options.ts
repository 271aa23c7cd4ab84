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
      description: 'The espeak-ng program; absent: found on PATH, else the package @echogarden/espeak-ng-emscripten.',
    },
    id: { ...text, description: 'The model, as requests name it; absent: espeak.' },
    name: { ...text, description: 'For people; absent: eSpeak NG.' },
    voice: { ...text, description: 'Speaks when a request names neither voice nor language; absent: en.' },
    slots: { type: 'integer', minimum: 1, maximum: 1024, description: 'Texts at once; absent: two for each core.' },
    waiting: { type: 'integer', minimum: 0, maximum: 10_000, description: 'Requests that may wait; absent: 64.' },
  },
};
