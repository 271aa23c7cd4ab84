/** What the SDK retries by itself: work that has not begun because the engine was full. */
import { createReadStream } from 'node:fs';
import type OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { startTestService } from '../support/service.ts';
import { sdkOf, speech } from './support/audio.ts';

/** The first call fails with this code, the second one works; the engine logs each. */
const engines = (code: string) => `
let calls = 0;
const failure = Object.assign(new Error('Not now.'), {
  code: '${code}',
  retryAfter: ${code === 'overloaded' ? 1 : 'undefined'},
  [Symbol.for('parlance.engine-error')]: true,
});
const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: 0 };

const define = (capability, work) => ({
  contract: 1,
  name: 'flaky-' + capability,
  capability,
  options: { type: 'object', properties: {} },
  create: (_options, { log }) => {
    const begin = () => {
      log.info({}, 'called');
      if (++calls === 1) throw failure;
    };
    return {
      models: [{ id: 'flaky', local: true }],
      ...work(begin),
    };
  },
});

export default [
  define('transcription', (begin) => ({ transcribe: async () => (begin(), { text: 'Hi.', language: null }) })),
  define('speech', (begin) => ({
    synthesize: async () => (begin(), { mediaType: 'audio/mpeg', audio: (async function* () { yield Buffer.from('Hi.'); })() }),
  })),
  define('chat', (begin) => ({
    async *complete() {
      begin();
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'Hi.' };
      yield { type: 'completed', result: { content: 'Hi.', finishReason: 'stop', reasoning: null, usage } };
    },
  })),
];
`;

async function start(code: string) {
  const service = await startTestService({
    config: 'engines: { flaky: { use: ./flaky.mjs } }\n',
    files: { 'flaky.mjs': engines(code) },
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  /** The header X-Stainless-Retry-Count of the SDK. */
  const counts: (string | null)[] = [];
  const sdk = sdkOf(service, {
    maxRetries: 2,
    fetch: (url: string, init?: RequestInit) => {
      // It also asks for data: addresses, to find out what fetch can do.
      if (url.startsWith('http')) counts.push(new Headers(init?.headers).get('x-stainless-retry-count'));
      return fetch(url, init);
    },
  });
  return { sdk, counts, called: () => service.log.filter(({ msg }) => msg === 'called').length };
}

const messages = [{ role: 'user' as const, content: 'Hello' }];

type Ask = (sdk: OpenAI) => Promise<string>;

const asks: Readonly<Record<string, Ask>> = {
  'a transcription': async (sdk) =>
    (await sdk.audio.transcriptions.create({ file: speech(), model: 'whisper-1' })).text,
  speech: async (sdk) => (await sdk.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hi.' })).text(),
  'a chat': async (sdk) =>
    (await sdk.chat.completions.create({ model: 'flaky', messages })).choices[0]?.message.content ?? '',
  'a streamed chat': async (sdk) => {
    const { choices } = await sdk.chat.completions.stream({ model: 'flaky', messages }).finalChatCompletion();
    return choices[0]?.message.content ?? '';
  },
};

it.each(Object.entries(asks))('after a 503 with Retry-After: %s', async (_what, ask) => {
  const { sdk, counts, called } = await start('overloaded');
  expect(await ask(sdk)).toBe('Hi.');
  expect(counts).toEqual(['0', '1']);
  expect(called()).toBe(2);
});

it.each(['engine-failed', 'provider-error', 'engine-timeout', 'provider-quota-exhausted'])(
  'not after %s',
  async (code) => {
    const { sdk, counts, called } = await start(code);
    await expect(asks['a chat']!(sdk)).rejects.toThrow('Not now.');
    expect(counts).toEqual(['0']);
    expect(called()).toBe(1);
  },
);

it('an upload from a stream is not retried', async () => {
  const { sdk, counts } = await start('overloaded');
  const file = createReadStream(spokenWords);
  await expect(sdk.audio.transcriptions.create({ file, model: 'whisper-1' })).rejects.toMatchObject({ status: 503 });
  expect(counts).toEqual(['0']);
});
