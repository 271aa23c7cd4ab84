/** Engines of all capabilities that list what a test needs and do nothing. */
import type { TestServiceOptions } from '../../support/service.ts';

const source = (capability: string, verb: string) => `
export default {
  contract: 1,
  name: '${capability}',
  capability: '${capability}',
  options: { type: 'object', properties: { models: { type: 'array' } } },
  create: ({ models }) => ({
    models,
    ${verb}: () => Promise.reject(new Error('it only lists')),
  }),
};
`;

const config = `
engines:
  llamacpp:
    use: ./chat.mjs
    models: [{ id: talker, local: true }, { id: deep/thinker, local: true }, { id: both, local: true }]
  ears:
    use: ./transcription.mjs
    models: [{ id: local, name: Local ears, local: true }]
  mouth:
    use: ./speech.mjs
    models:
      - { id: tts-1, local: true, voices: [{ id: en, name: English, language: en }, { id: de, name: German, language: de }] }
      - { id: voice, local: true, voices: [{ id: de, name: Deutsch, language: de }] }
      - { id: both, local: true }
`;

export const engines = {
  config,
  files: {
    'chat.mjs': source('chat', 'complete'),
    'transcription.mjs': source('transcription', 'transcribe'),
    'speech.mjs': source('speech', 'synthesize'),
  },
} satisfies TestServiceOptions;
