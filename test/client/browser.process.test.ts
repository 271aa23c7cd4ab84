/** The client in a real browser, on pages of another origin and of the service's own (the service embedded by `createApp`). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { pino } from 'pino';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp, loadSettings, type App } from '../../src/index.ts';
import { eventually } from '../api/support/eventually.ts';
import { startChromium } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';
import { scripted } from './support/scripted.ts';

const wav = toneWav({ words: ['alpha', 'bravo'], rate: 48_000, tailSeconds: 0.2 });

interface Uploaded {
  readonly text: string;
  readonly shares: readonly number[];
}

describeWith(['chromium', 'whisper-cli'], 'the client in a browser', (programs) => {
  let browser: Browser;
  let bundle: string;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-browser-'));
    await writeToneModel(join(directory, 'tones.bin'));
    const entry = join(import.meta.dirname, 'support/page.js');
    const built = await build({ entryPoints: [entry], bundle: true, write: false, platform: 'browser', format: 'esm' });
    expect(built.warnings).toEqual([]);
    bundle = built.outputFiles[0]?.text ?? '';
    browser = await startChromium(['--autoplay-policy=no-user-gesture-required']);
  });
  afterAll(async () => {
    await browser.close();
    await rm(directory, { recursive: true, force: true });
  });

  const options = () => ({
    ...scripted,
    config: `transcribeModel: tones
engines:
  scripted: { use: ./scripted.mjs }
  local: { use: whisper-cli, models: [{ id: tones, file: ${join(directory, 'tones.bin')} }] }
`,
    env: { WHISPER_CLI: programs['whisper-cli'] },
  });

  /** Answers with the page and its script; anything else is for the next one. */
  const pages =
    (next: RequestListener): RequestListener =>
    (req, res) => {
      if (req.url === '/page')
        res.setHeader('content-type', 'text/html').end('<script type="module" src="/page.js"></script>');
      else if (req.url === '/page.js') res.setHeader('content-type', 'text/javascript').end(bundle);
      else next(req, res);
    };

  /** Below /odd/, with a status that the class Response of browsers does not accept. */
  const notFound: RequestListener = (req, res) => void res.writeHead(req.url?.startsWith('/odd/') ? 999 : 404).end();

  async function openPage(origin: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`${origin}/page`);
    await page.waitForFunction('globalThis.page');
    return page;
  }

  /** Calls a function of support/page.js. */
  const ask = (page: Page, name: string, ...args: unknown[]): Promise<unknown> =>
    page.evaluate(`globalThis.page[${JSON.stringify(name)}](...${JSON.stringify(args)})`);

  describe('on a page of another origin', () => {
    let service: TestService;
    let server: Server;
    let page: Page;
    let at: { baseUrl: string };

    beforeAll(async () => {
      server = await listening(createServer(pages(notFound)));
      const { env, ...others } = options();
      service = await startTestService({ ...others, env: { ...env, CORS_ORIGINS: originOf(server) } });
      page = await openPage(originOf(server));
      at = { baseUrl: service.url };
    });
    afterAll(async () => {
      await page.close();
      await closed(server);
      await service[Symbol.asyncDispose]();
    });

    it('transcribes what a MediaRecorder has recorded', async () => {
      expect(await ask(page, 'transcribeRecording', at, [...wav])).toMatchObject({
        type: 'audio/webm;codecs=opus',
        text: 'alpha bravo',
        model: 'tones',
      });
    });

    it('reports how much of a recording was sent', async () => {
      const { text, shares } = (await ask(page, 'uploadWithProgress', at, [...wav])) as Uploaded;
      expect(text).toBe('alpha bravo');
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares.at(-1)).toBe(1);
    });

    it('gets a rejected upload with progress as a typed error', async () => {
      expect(await ask(page, 'uploadWithProgress', at, [...wav], { model: 'nose' })).toMatchObject({
        error: { code: 'unknown-model', status: 422, requestId: expect.any(String) as string },
      });
      expect(await ask(page, 'uploadWithProgress', { baseUrl: 'http://127.0.0.1:9' }, [...wav])).toMatchObject({
        error: { code: 'unreachable' },
      });
      const odd = { baseUrl: `${originOf(server)}/odd` };
      expect(await ask(page, 'uploadWithProgress', odd, [...wav])).toMatchObject({
        error: { code: 'unexpected-answer', status: 999 },
      });
    });

    it('reads a stream to its end', async () => {
      const events = (await ask(page, 'stream', at, 'hello')) as { type: string }[];
      expect(events.map(({ type }) => type)).toEqual([
        'chat.started',
        'step.started',
        ...Array<string>(3).fill('content.delta'),
        'chat.completed',
      ]);
    });

    // Chromium shows some as aborted that are answered with `Cache-Control: no-store`.
    it('finishes the request of a stream that has ended', async () => {
      const outcomes: string[] = [];
      const begun = new Set<Request>(); // those of earlier tests may end only now
      const begin = (request: Request) => void begun.add(request);
      const note = (outcome: string) => (request: Request) => {
        if (!begun.has(request) || request.method() !== 'POST') return;
        outcomes.push(`${outcome} ${new URL(request.url()).pathname}`);
      };
      const [finished, failed] = [note('finished'), note('failed')];
      page.on('request', begin).on('requestfinished', finished).on('requestfailed', failed);
      for (let run = 0; run < 5; run += 1) await ask(page, 'stream', at, 'hello');
      await eventually(() => outcomes).toHaveLength(5);
      page.off('request', begin).off('requestfinished', finished).off('requestfailed', failed);
      expect(outcomes).toEqual(Array(5).fill('finished /api/v1/chat/stream'));
    });

    it('sees the clips of a chat, whose header is exposed to other origins', async () => {
      const { clips } = (await ask(page, 'chat', at, 'read aloud')) as { clips: { url: string }[] };
      expect(clips.map(({ url }) => url)).toEqual([expect.stringContaining(`${service.url}/api/v1/tts/clips/`)]);
      expect(await page.evaluate(`fetch(${JSON.stringify(clips[0]?.url)}).then((answer) => answer.text())`)).toBe(
        'mp3:Hello.',
      );
    });

    it('receives speech', async () => {
      expect(await ask(page, 'speak', at, 'Hello.')).toEqual({ type: 'audio/wav', text: 'wav:Hello.' });
    });

    it('gets a rejection as a typed error, with the headers exposed to other origins', async () => {
      expect(await ask(page, 'chat', at, '')).toMatchObject({
        error: { code: 'invalid-request', status: 422, errors: [{ pointer: '/messages/0/content' }] },
      });
      expect(await ask(page, 'chat', at, 'rate limit')).toMatchObject({
        error: { code: 'provider-rate-limited', status: 429, retryAfter: 7 },
      });
    });

    it.each(['abortedStream', 'abortedUpload', 'abortedUploadWithProgress'])('cancels: %s', async (name) => {
      const before = service.log.length;
      const answer = ask(page, name, at, [...wav.subarray(0, 1000)]);
      const logged = (msg: string) => service.log.slice(before).find((line) => line.msg === msg);
      await eventually(() => logged('the engine works')).toBeDefined();
      await ask(page, 'abort');
      expect(await answer).toBe('enough');
      await eventually(() => logged('ended')).toBeDefined();
      await eventually(() => logged('request')?.status).toBe(499);
    });

    it('cannot open paths, and reports that', async () => {
      expect(await ask(page, 'transcribePath', at, '/etc/hostname')).toMatch(
        /^TypeError: Paths are supported in Node\.js only/,
      );
    });

    it('gets an error that mentions CORS if the service does not allow its origin', async () => {
      await using stranger = await startTestService(scripted);
      expect(await ask(page, 'listings', { baseUrl: stranger.url })).toMatchObject({ error: { code: 'unreachable' } });
    });
  });

  describe('on a page of the service’s own origin', () => {
    let app: App;
    let server: Server;
    let page: Page;

    beforeAll(async () => {
      const { config, files, env } = options();
      await writeFile(join(directory, 'parlance.config.yaml'), config);
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      const environment = { PATH: process.env.PATH, DATA_DIR: join(directory, 'data'), NODE_ENV: 'test', ...env };
      app = await createApp({
        settings: loadSettings(environment, directory),
        env: environment,
        log: pino({ level: 'silent' }),
      });
      server = await listening(createServer(pages(app.listener)));
      page = await openPage(originOf(server));
    });
    afterAll(async () => {
      await page.close();
      await closed(server);
      await app[Symbol.asyncDispose]();
    });

    it('needs no address', async () => {
      expect(await ask(page, 'listings', {})).toEqual(['tones', 'scripted', 'voice']);
    });

    it('transcribes, chats and speaks', async () => {
      expect(await ask(page, 'transcribeBytes', {}, [...wav])).toMatchObject({ text: 'alpha bravo' });
      expect(await ask(page, 'chat', {}, 'hello')).toMatchObject({ content: 'Grüß dich, 東京.' });
      expect(await ask(page, 'stream', {}, 'hello')).toHaveLength(6);
      expect(await ask(page, 'speak', {}, 'Hello.')).toEqual({ type: 'audio/wav', text: 'wav:Hello.' });
    });
  });
});

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function listening(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
