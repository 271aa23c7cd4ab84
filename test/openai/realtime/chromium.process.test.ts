/** Spoken conversations in Chromium, over TLS, with client secrets: the page of the guide, and the SDKs as they are. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createOpenAI } from '@ai-sdk/openai';
import type { UIMessage } from 'ai';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test, vi, type TestContext } from 'vitest';
import { blockWith, home } from '../../docs/support/pages.ts';
import { bearer, keysFile, tokenOf } from '../../keys/support/keys.ts';
import { startChromium } from '../../support/chromium.ts';
import { startLocalService } from '../../support/local-service.ts';
import { describeWith } from '../../support/programs.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import type { TestService } from '../../support/service.ts';
import { toneWav, type Word } from '../../support/tone-model.ts';

vi.setConfig({ testTimeout: 120_000 });

const guide = blockWith('docs/guides/conversation.md', 'html', '<!doctype html>');
const certificate = join(home, 'test/fixtures/tls/localhost.pem');
/** programs.process.test.ts checks that they are installed on CI. */
const hasAgents = existsSync(join(home, 'test/programs/node_modules'));
const headers = bearer(tokenOf('app'));

/** Both answers last for minutes: on a busy machine, they must still be playing when the user has spoken. */
const sunny = 'Sunny in Paris. '.repeat(100).trim();
const story = 'This is a story that is never over. '.repeat(50).trim();
/** Whatever is understood has an answer, also the half of a question. */
const config = `
engines:
  made-up:
    use: sandbox
    answers:
      - { contains: weather, call: 'weather {"city": "Paris"}' }
      - { contains: alpha, call: 'weather {"city": "Paris"}' }
      - { contains: a, say: '${story}' }
      - { contains: e, say: '${story}' }
      - { contains: o, say: '${story}' }
  whisper: { use: whisper-cli, models: [{ id: tones, file: '\${WHISPER_MODEL}' }] }`;

interface Sentence {
  /** A WAV file. */
  readonly sound: Buffer;
  /** A part of it that was understood is enough. */
  readonly words: RegExp;
}

const tones = (word: Word): Sentence => ({
  sound: toneWav({ words: [word, word, word], rate: 24_000 }),
  words: new RegExp(word),
});

/** The sentences of the user, for the sandbox and for whisper.cpp. The first one calls a tool. */
type Sentences = Record<'ask' | 'continue', Sentence>;
const forWhisper: Sentences = { ask: tones('alpha'), continue: tones('bravo') };

/** The events of the session of a page. */
class Observed {
  readonly received: WireEvent[] = [];
  /** How many pieces of sound the page has sent. */
  #pieces = 0;
  #wake = Promise.withResolvers<undefined>();

  constructor(page: Page) {
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        if (String(payload).includes('input_audio_buffer.append')) this.#pieces += 1;
        this.#notify();
      });
      socket.on('framereceived', ({ payload }) => {
        this.received.push(JSON.parse(String(payload)) as WireEvent);
        this.#notify();
      });
    });
  }

  #notify(): void {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }

  #find(type: string, after?: WireEvent): WireEvent | undefined {
    const from = after === undefined ? 0 : this.received.indexOf(after) + 1;
    return this.received.slice(from).find((one) => one.type === type);
  }

  /** Resolves with the first event of the type after another one. */
  async next(type: string, after?: WireEvent): Promise<WireEvent> {
    for (;;) {
      const event = this.#find(type, after);
      if (event) return event;
      await this.#wake.promise;
    }
  }

  /** Resolves with the next transcript; undefined if no turn has begun while the page has sent some seconds of sound. */
  async transcript(after?: WireEvent): Promise<WireEvent | undefined> {
    const pieces = this.#pieces + 100;
    while (this.#pieces < pieces || this.#find('input_audio_buffer.speech_started', after)) {
      const event = this.#find('conversation.item.input_audio_transcription.completed', after);
      if (event) return event;
      await this.#wake.promise;
    }
    return undefined;
  }
}

const delta = 'response.output_audio.delta';

describeWith(['chromium', 'whisper-cli'], 'in Chromium', () => {
  let browser: Browser;
  let service: TestService;
  let forSandbox: Sentences;

  /** The server of an application, of another origin on this machine. */
  const application = createServer((request, response) => void answer(request, response));
  const contents: Record<string, string> = {};

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', service.url);
    if (pathname === '/setup') return void response.end(JSON.stringify(await setUp(await json(request))));
    response.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(contents[pathname] ?? `<script src="${pathname}.js" type="module"></script>`);
  }

  /** As the documentation of the AI SDK has it. */
  async function setUp(body: unknown) {
    const openai = createOpenAI({ baseURL: `${service.url}/v1`, apiKey: tokenOf('app') });
    const parameters = {
      type: 'object' as const,
      properties: { city: { type: 'string' as const } },
      required: ['city'],
    };
    const tools = [{ type: 'function' as const, name: 'weather', description: 'The weather.', parameters }];
    const { sessionConfig } = body as { readonly sessionConfig: object };
    const token = await openai.experimental_realtime.getToken({
      model: 'gpt-realtime',
      sessionConfig: { ...sessionConfig, tools },
    });
    return { ...token, tools };
  }

  const bundle = async (entry: string) => {
    const options = { bundle: true, write: false, platform: 'browser', format: 'esm' } as const;
    const { outputFiles } = await build({ entryPoints: [join(home, 'test', entry)], ...options });
    return outputFiles[0]!.text;
  };

  beforeAll(async () => {
    setDefaultCACertificates([...getCACertificates(), readFileSync(certificate, 'utf8')]);
    const tls = { TLS_CERT: certificate, TLS_KEY: certificate.replace('.pem', '-key.pem') };
    const env = { ...tls, API_KEYS_FILE: 'keys.yaml' };
    const files = { 'keys.yaml': keysFile({ name: 'app' }) };
    [browser, service] = await Promise.all([startChromium(), startLocalService({ config, env, files })]);
    contents['/guide'] = guide.replace('ws://127.0.0.1:8484', service.url.replace('http', 'ws'));
    contents['/ai-sdk.js'] = await bundle('openai/realtime/pages/ai-sdk.js');
    if (hasAgents) contents['/agents.js'] = await bundle('programs/agents-page.mjs');
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    const speak = async (text: string, words: RegExp) => {
      const speech = await service.post('/tts', { text, format: 'wav' }, { headers });
      return { sound: Buffer.from(await speech.arrayBuffer()), words };
    };
    forSandbox = {
      ask: await speak('weather weather weather', /weather/),
      continue: await speak('Please continue. Please!', /Please|continue\./),
    };
  });
  afterAll(async () => {
    await browser.close();
    application.close();
    await service[Symbol.asyncDispose]();
  });

  /** After the test, the page has had no errors, and the session has kept its laws. */
  async function openPage(path: string, { expect, onTestFinished }: TestContext) {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    const session = new Observed(page);
    onTestFinished(async () => {
      await page.close();
      expect(errors).toEqual([]);
      expect(breachesOf(session.received, { isWhole: false, sentIds: [] })).toEqual([]);
    });
    await page.addInitScript({ path: join(import.meta.dirname, 'pages/microphone.js') });
    await page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}${path}`);
    /** A busy machine tears holes into the sound: who is not understood says it again. Resolves with the transcript. */
    async function say({ sound, words }: Sentence): Promise<WireEvent> {
      for (let take = 1; take <= 10; take++) {
        const before = session.received.at(-1);
        await page.evaluate(`say('${sound.toString('base64')}')`);
        const heard = await session.transcript(before);
        if (heard && words.test(heard.transcript ?? '')) return heard;
      }
      throw new Error('The service has not understood a word.');
    }
    /** The user asks for what needs the tool, and interrupts two answers. */
    async function converse(sentences: Sentences): Promise<void> {
      await say(sentences.ask);
      await session.next(delta, await session.next('response.function_call_arguments.done'));
      for (let interruption = 1; interruption <= 2; interruption++) {
        const before = session.received.at(-1);
        await say(sentences.continue);
        const started = await session.next('input_audio_buffer.speech_started', before);
        await session.next('conversation.item.truncated', started);
        await session.next(delta, started);
      }
    }
    return { page, session, say, converse };
  }

  async function createSecret(): Promise<string> {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{}' };
    const response = await fetch(`${service.url}/v1/realtime/client_secrets`, init);
    return ((await response.json()) as { readonly value: string }).value;
  }

  test.concurrent('the page of the guide talks, and can be interrupted', async (context) => {
    const { expect } = context;
    expect(guide.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
    const { page, session, say } = await openPage('/guide', context);
    await page.getByRole('textbox').fill(await createSecret());
    await page.getByRole('button', { name: 'Talk' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    const first = await say(forSandbox.continue);
    await session.next(delta, first);
    await say(forSandbox.continue);
    await session.next('conversation.item.retrieved', first);
    const answers = () => page.locator('dd').allTextContents();
    await expect.poll(async () => (await answers()).at(-1), { timeout: 60_000 }).toMatch(/^This is a story.* over\.$/);
    const [heard = ''] = await answers();
    expect(heard).toMatch(/^\w.* …$/);
    expect(story.startsWith(heard.replace(' …', ''))).toBe(true);
    expect((await page.locator('dt').allTextContents()).at(-1)).toMatch(forSandbox.continue.words);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Talk' }).waitFor();
  });

  test.concurrent.for(['sandbox-transcribe', 'tones'])('the AI SDK, with %s', async (model, context) => {
    const { expect } = context;
    const { page, session, converse } = await openPage(model === 'tones' ? '/ai-sdk?model=tones' : '/ai-sdk', context);
    await page.getByRole('button', { name: 'Talk' }).click();
    await session.next('session.updated');
    await converse(model === 'tones' ? forWhisper : forSandbox);
    const { errors, messages } = await page.evaluate<{ errors: unknown; messages: readonly UIMessage[] }>('seen');
    expect(errors).toEqual([]);
    const parts = messages.flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'dynamic-tool')).toMatchObject([
      { toolName: 'weather', state: 'output-available', input: { city: 'Paris' }, output: sunny },
    ]);
    expect(parts.filter((part) => part.type === 'text').at(-1)?.text).toMatch(/^This is a story/);
  });

  test.skipIf(!hasAgents).concurrent.for(['sandbox-transcribe', 'tones'])(
    'the Agents SDK, with %s',
    async (model, context) => {
      const { expect } = context;
      const { page, converse } = await openPage('/agents', context);
      const url = `${service.url.replace('http', 'ws')}/v1/realtime`;
      const turnDetection = { type: 'server_vad', prefixPaddingMs: 500 };
      const input = model === 'tones' ? { transcription: { model, language: 'en' }, turnDetection } : {};
      await page.evaluate(`talk('${url}', '${await createSecret()}', ${JSON.stringify(input)})`);
      await converse(model === 'tones' ? forWhisper : forSandbox);
      expect(await page.evaluate('seen')).toMatchObject({ errors: [], called: ['Paris'], interrupted: 2 });
    },
  );
});
