/**
 * A service whose engines are scripted: the text that is to be spoken is itself the script of its synthesis, and the
 * last message of a chat is the list of the tool calls that its model makes.
 */
import { writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

/**
 * Its script is a list of words: a number is so many bytes of sound, `gate:NAME` waits for a file of this name beside
 * the settings, `hang` waits for the end, `deaf` for ever, `fail` throws. What comes before the first number happens
 * before `synthesize` resolves. It logs what it was asked for (`synthesize`) and that it was ended (`ended`).
 */
const speechEngine = `
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const engineError = Symbol.for('parlance.engine-error');
const failure = () => Object.assign(new Error('The voice broke.'), { code: 'provider-error', [engineError]: true });

/** Digits that tell their place. */
const digits = (from, count) => Buffer.alloc(count, '01234567890123456789'.slice(from % 10, (from % 10) + 10));

const voices = [{ id: 'anna', name: 'Anna', language: 'de' }, { id: 'bob', name: 'Bob', language: 'en' }];
const models = [
  { id: 'choir', local: true, voices },
  { id: 'duo', local: false, voices: [{ id: 'carl', name: 'Carl', language: 'en' }, voices[0]] },
  { id: 'mute', local: true },
  { id: 'unlisted', local: true },
];

export default {
  contract: 1,
  name: 'scripted-speech',
  capability: 'speech',
  options: {
    type: 'object',
    properties: { mediaType: { type: 'string' }, down: { type: 'boolean' }, file: { type: 'string' } },
  },
  create({ mediaType = 'audio/mpeg', down = false, file }, context) {
    const bytes = file && readFileSync(file);
    const sound = bytes ? (from, count) => bytes.subarray(from, from + count) : digits;
    const { log } = context;
    const missing = { available: false, code: 'program-missing', reason: 'It has no voice.' };

    async function perform(word, made, signal) {
      if (/^\\d+$/.test(word)) return sound(made, Number(word));
      if (word === 'fail') throw failure();
      if (word === 'deaf') await new Promise(() => {});
      if (word === 'hang') await wait(600_000, undefined, { signal });
      const [, gate] = /^gate:(\\w+)$/.exec(word) ?? [];
      while (gate !== undefined && !existsSync(context.resolve(gate))) await wait(5, undefined, { signal });
      return undefined;
    }

    async function* speak(words, signal) {
      let made = 0;
      for (const word of words) {
        const piece = await perform(word, made, signal);
        if (piece === undefined) continue;
        made += piece.length;
        log.debug({}, 'piece');
        yield piece;
      }
    }

    return {
      models: models.map((model) => (model.id === 'mute' || down ? { ...model, availability: missing } : model)),
      async synthesize({ text, ...call }, { signal }) {
        log.info({ call }, 'synthesize');
        signal.addEventListener('abort', () => log.info({}, 'ended'));
        const audio = speak(text.split(' '), signal);
        const first = await audio.next();
        async function* all() {
          if (!first.done) yield first.value;
          yield* audio;
        }
        return { mediaType, audio: all() };
      },
    };
  },
};
`;

/**
 * Its script, the last message, is `{ calls: [[arguments of a call, ...], ...], then?: 'hang' | 'fail' }`: steps of
 * parallel calls, whose text is repeated `times`.
 */
const chatEngine = `
import { setTimeout as wait } from 'node:timers/promises';

const ready = { available: true, code: 'ready', reason: 'Ready.' };

export default {
  contract: 1,
  name: 'scripted-chat',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'scripted', local: true }],
    async *complete({ messages }, { signal, tools }) {
      const { calls = [], then } = JSON.parse(messages.at(-1).content);
      const tool = tools.find(({ name }) => name === 'read_aloud');
      const said = [];
      for (const [step, list] of calls.entries()) {
        yield { type: 'step-started', step };
        const about = (call) => ({ step, call, name: 'read_aloud' });
        for (const [call, args] of list.entries()) yield { type: 'tool-started', ...about(call), arguments: args };
        const events = [];
        const run = async ({ times = 1, ...args }, call) => {
          if (times > 1) args.text = args.text.repeat(times);
          const emit = (event) => events.push({ type: 'tool-event', step, call, event });
          const outcome = await tool.run(args, { signal, emit }).then(
            (output) => ({ ok: true, output }),
            (error) => ({ ok: false, error: error.message }),
          );
          events.push({ type: 'tool-finished', ...about(call), ...outcome, durationMs: 0 });
          said.push(outcome.output ?? outcome.error);
        };
        await Promise.all(list.map(run));
        yield* events;
      }
      const step = calls.length;
      yield { type: 'step-started', step };
      if (then === 'fail') throw new Error('the model broke');
      if (then === 'hang') await wait(600_000, undefined, { signal });
      const content = JSON.stringify({ tools: tools.map(({ name }) => name), said });
      yield { type: 'content-delta', step, delta: content };
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
};
`;

export interface SpeechServiceOptions extends TestServiceOptions {
  /** Options of the speech engine, in YAML's flow style; null: there is no engine. */
  readonly speech?: string | null;
}

export function scriptedEngines(speech: string | null = ''): Required<Pick<TestServiceOptions, 'config' | 'files'>> {
  const engines = [
    'chat: { use: ./chat.mjs }',
    ...(speech === null ? [] : [`speech: { use: ./speech.mjs, ${speech} }`]),
  ];
  return {
    config: `engines: { ${engines.join(', ')} }\n`,
    files: { 'chat.mjs': chatEngine, 'speech.mjs': speechEngine },
  };
}

export function openSpeechService({ speech, ...options }: SpeechServiceOptions = {}): Promise<TestService> {
  return startTestService({ ...scriptedEngines(speech), ...options });
}

/** Ends with the test. */
export async function startSpeechService(options: SpeechServiceOptions = {}): Promise<TestService> {
  const service = await openSpeechService(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

/** The audio that the speech engine makes, from this offset on. */
export function sound(from: number, bytes: number): string {
  const ten = '01234567890123456789'.slice(from % 10, (from % 10) + 10);
  return ten.repeat(Math.ceil(bytes / 10)).slice(0, bytes);
}

/** Lets every synthesis continue that waits for this gate. */
export async function open(service: { readonly dir: string }, gate: string): Promise<void> {
  await writeFile(join(service.dir, gate), '');
}

export interface ChatScript {
  readonly calls?: readonly (readonly object[])[];
  readonly then?: 'hang' | 'fail';
}

export const chatBody = (script: ChatScript, more: object = {}) => ({
  messages: [{ role: 'user', content: JSON.stringify(script) }],
  ...more,
});

export interface ScriptedAnswer {
  /** The names of the tools that the model was offered. */
  readonly tools: readonly string[];
  /** The results of the tools that the model received. */
  readonly said: readonly string[];
  /** The clips' addresses below /api/v1, by the Link header. */
  readonly clips: readonly string[];
}

/** A chat that must succeed. */
export async function chat(service: TestService, script: ChatScript, more: object = {}): Promise<ScriptedAnswer> {
  const response = await service.post('/chat', chatBody(script, more));
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const result = JSON.parse(text) as Schemas['ChatResult'];
  const links = (response.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="enclosure"; type="audio\/mpeg"/g);
  return {
    ...(JSON.parse(result.content) as Pick<ScriptedAnswer, 'tools' | 'said'>),
    clips: [...links].map(([, url = '']) => url.replace(/^.*\/api\/v1/, '')),
  };
}

/** The address of a clip whose synthesis follows this script. */
export async function makeClip(service: TestService, script: string): Promise<string> {
  const { clips, said } = await chat(service, { calls: [[{ text: script }]] });
  expect({ clips, said }).toMatchObject({ clips: [expect.any(String)] });
  return clips[0]!;
}

/** The requests to the speech engine, without the texts. */
export function synthesized({ log }: TestService): unknown[] {
  return log.filter(({ msg }) => msg === 'synthesize').map(({ call }) => call);
}

/** A GET whose body is read as it comes. */
export interface Reading {
  readonly response: IncomingMessage;
  /** The bytes received so far. */
  readonly received: string;
  /** How the transfer ended: `whole` only when everything that was announced has come. */
  readonly ended: Promise<'whole' | 'broken'>;
  leave(): void;
}

export interface ReadingOptions {
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly body?: string;
  /** Another one makes it another caller of a service in open mode. */
  readonly localAddress?: string;
}

export async function startReading(
  url: string,
  { headers = {}, method = 'GET', body, localAddress = '127.0.0.1' }: ReadingOptions = {},
): Promise<Reading> {
  const sending = request(url, { method, headers, localAddress });
  sending.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', reject);
  });
  let received = '';
  response.setEncoding('latin1').on('data', (text: string) => (received += text));
  const ended = new Promise<'whole' | 'broken'>((resolve) => {
    response.once('error', () => resolve('broken'));
    response.once('close', () => resolve(response.complete ? 'whole' : 'broken'));
  });
  return {
    response,
    get received() {
      return received;
    },
    ended,
    leave: () => void response.destroy(),
  };
}

/** The address of a path below /api/v1. */
export const addressOf = (service: { readonly url: string }, path: string): string => `${service.url}/api/v1${path}`;
