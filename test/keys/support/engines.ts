/**
 * One engine for everything that works at once. Its models: `house` is the default, `off` is not available, `mine`, and
 * `hosted`, which is not local. A chat answers with the names of the tools that it was offered.
 */
import type { TestServiceOptions } from '../../support/service.ts';

const source = `
const ids = ['house', 'off', 'mine', 'hosted'];
const voices = (id) => [{ id: 'voice-of-' + id, name: id, language: 'en' }];

function define(capability, verb) {
  const more = { speech: (id) => ({ voices: voices(id) }), transcription: () => ({ supports: ['translate'] }), chat: () => ({}) };
  const availability = { available: false, code: 'key-missing', reason: 'Off.' };
  const models = ids.map((id) => ({ id, local: id !== 'hosted', ...more[capability](id), ...(id === 'off' && { availability }) }));
  const create = () => ({ models, ...verb });
  return { contract: 1, name: 'all-' + capability, capability, options: { type: 'object', properties: {} }, create };
}

export default [
  define('transcription', { transcribe: async ({ model }) => ({ text: model, language: null, durationMs: 500 }) }),
  define('chat', {
    async *complete(_call, { tools }) {
      yield { type: 'step-started', step: 0 };
      const content = tools.map(({ name }) => name).join(' ');
      yield { type: 'content-delta', step: 0, delta: content };
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
  define('speech', {
    async synthesize({ format }) {
      const others = { flac: 'audio/flac', aac: 'audio/aac', pcm: 'audio/pcm' };
      const mediaType = { mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg', ...others }[format];
      return { mediaType, audio: (async function* () { yield Buffer.from('sound'); })() };
    },
  }),
];
`;

export const engines = {
  config: 'engines: { all: { use: ./all.mjs } }\ncompatAliases: { gpt-4o: mine, gpt-5: house }\n',
  files: { 'all.mjs': source },
} satisfies TestServiceOptions;
