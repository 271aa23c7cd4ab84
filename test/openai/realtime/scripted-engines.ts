/** Engines of a conversation that a test can follow word by word. */
import { join } from 'node:path';
import type { TestService, TestServiceOptions } from '../../support/service.ts';

/** How long the voice takes for each word by default. */
export const msPerWord = 1_000;

/** Six sentences of ten words that have the same length: Word01 word02, and so on. */
export const story = Array.from({ length: 60 }, (_, at) => {
  const word = `${at % 10 === 0 ? 'W' : 'w'}ord${String(at + 1).padStart(2, '0')}`;
  return at % 10 === 9 ? `${word}.` : word;
}).join(' ');

/** Returns the module of a local engine with one model. `body` has its functions, which can use `log` and `wordMs`. */
export const engineOf = (capability: string, body: string) => `
export default {
  contract: 1,
  name: 'scripted-${capability}',
  capability: '${capability}',
  options: { type: 'object', properties: { wordMs: { type: 'integer' } } },
  create: ({ wordMs }, { log }) => ({ models: [{ id: '${capability}', local: true, supports: ${JSON.stringify(capability === 'chat' ? ['tools'] : [])} }], ${body} }),
};
`;

/** The chat calls the tool `weather` if the user says "alpha". Otherwise, it tells a story and never ends. It logs its messages. */
const chat = `
  async *complete({ messages, tools = [] }, { signal }) {
    log.info({ messages }, 'asked');
    const last = messages.at(-1);
    yield { type: 'step-started', step: 0 };
    if (last.role === 'user' && last.content.includes('alpha') && tools.length > 0) {
      const toolCalls = [{ id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' }];
      const result = { content: '', finishReason: 'tool_calls', reasoning: null, usage: null, toolCalls };
      return yield { type: 'completed', result };
    }
    yield { type: 'content-delta', step: 0, delta: ${JSON.stringify(story)} };
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }`;

const speech = `
  synthesize({ text }) {
    const audio = (async function* () { yield new Uint8Array(text.split(/\\s+/).length * wordMs * 48).fill(16); })();
    return Promise.resolve({ mediaType: 'audio/pcm', audio });
  }`;

const transcription = `
  transcribe: () => Promise.resolve({ text: 'And then?', language: 'en', durationMs: 1000 })`;

const files = {
  'brain.mjs': engineOf('chat', chat),
  'mouth.mjs': engineOf('speech', speech),
  'ears.mjs': engineOf('transcription', transcription),
};

interface Options {
  readonly ears?: string;
  readonly wordMs?: number;
}

const ownEars = '{ use: ./ears.mjs }';
/** The real whisper-cli with its tone model. */
export const toneEars = "{ use: whisper-cli, models: [{ id: tones, file: '${WHISPER_MODEL}' }] }";

export function scriptedTalk({ ears = ownEars, wordMs = msPerWord }: Options = {}) {
  const mouth = `{ use: ./mouth.mjs, wordMs: ${wordMs} }`;
  return {
    config: `engines: { ears: ${ears}, brain: { use: ./brain.mjs }, mouth: ${mouth} }\n`,
    files,
  } satisfies TestServiceOptions;
}

/** The sandbox, whose chat logs its messages. */
export const notedSandbox = {
  config: 'engines: { noted: { use: ./noted.mjs } }\n',
  files: {
    'noted.mjs': `
      import engines from ${JSON.stringify(join(import.meta.dirname, '../../../engines/sandbox/index.ts'))};
      const noted = (chat, { log }) => ({
        ...chat,
        complete(call, options) {
          log.info({ messages: call.messages }, 'asked');
          return chat.complete(call, options);
        },
      });
      export default engines.map(({ create, ...engine }) => ({
        ...engine,
        create: (options, context) =>
          engine.capability === 'chat' ? noted(create(options, context), context) : create(options, context),
      }));
    `,
  },
} satisfies TestServiceOptions;

interface Message {
  readonly role: string;
  readonly content: string;
}

/** The messages of each call of the chat, as `role: content`, without the instructions. */
export const askedOf = ({ log }: Pick<TestService, 'log'>): string[][] =>
  log.flatMap(({ msg, messages }) =>
    msg === 'asked'
      ? [(messages as readonly Message[]).slice(1).map(({ role, content }) => `${role}: ${content}`)]
      : [],
  );

/** The number of words of the story that the message has, which must be the first ones. */
export function wordsHeard(message = ''): number {
  const text = message.replace(/^assistant: /, '').trim();
  if (!story.startsWith(text)) throw new Error(`not the beginning of the story: ${message}`);
  return text === '' ? 0 : text.split(' ').length;
}
