/** The openai SDK in a real browser, on pages of a listed and of an unlisted origin. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';

/** Functions of the page; each returns what can be cloned. */
const script = `
import OpenAI, { toFile } from 'openai';

const openai = (baseURL) => new OpenAI({ baseURL, apiKey: 'right', dangerouslyAllowBrowser: true, maxRetries: 0 });
const messages = [{ role: 'user', content: 'Hello there.' }];

globalThis.page = {
  list: async (url) => (await openai(url).models.list()).data.map(({ id }) => id),
  async chat(url) {
    const { data, response } = await openai(url).chat.completions.create({ messages, user: 'ada' }).withResponse();
    const headers = ['x-request-id', 'x-parlance-model', 'x-parlance-ignored'].map((name) => response.headers.get(name));
    return { content: data.choices[0].message.content, headers };
  },
  async stream(url) {
    let text = '';
    for await (const { choices } of await openai(url).chat.completions.create({ messages, stream: true })) {
      text += choices[0].delta.content ?? '';
    }
    return text;
  },
  async transcribe(url, bytes) {
    const file = await toFile(new Uint8Array(bytes), 'a.wav');
    return (await openai(url).audio.transcriptions.create({ file, model: 'whisper-1', response_format: 'srt' }));
  },
  async speak(url) {
    const response = await openai(url).audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hi.' });
    return { type: response.headers.get('content-type'), bytes: (await response.arrayBuffer()).byteLength };
  },
  async failure(url) {
    const error = await openai(url).chat.completions.create({ messages, model: 'absent' }).catch((thrown) => thrown);
    return { name: error.constructor.name, status: error.status, code: error.code, hasId: Boolean(error.requestID) };
  },
};
`;

describeWith(['chromium'], 'the SDK in a browser', () => {
  let browser: Browser;
  let listed: Server;
  let unlisted: Server;
  let service: TestService;
  beforeAll(async () => {
    const stdin = { contents: script, resolveDir: import.meta.dirname };
    const built = await build({ stdin, bundle: true, write: false, platform: 'browser', format: 'esm' });
    const bundle = built.outputFiles[0]?.text ?? '';
    [listed, unlisted] = [await serve(bundle), await serve(bundle)];
    service = await startTestService({
      env: { PARLANCE_SANDBOX: '1', API_KEYS: 'right', CORS_ORIGINS: originOf(listed) },
    });
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    await service[Symbol.asyncDispose]();
    for (const server of [listed, unlisted]) await closed(server);
  });

  async function openPage(server: Server): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(originOf(server));
    await page.waitForFunction('globalThis.page');
    return page;
  }

  const ask = (page: Page, name: string, ...args: unknown[]): Promise<unknown> =>
    page.evaluate(`globalThis.page.${name}(...${JSON.stringify([`${service.url}/v1`, ...args])})`);

  it('of a listed origin lists, chats, streams, transcribes and speaks', async () => {
    const page = await openPage(listed);
    expect(await ask(page, 'list')).toContain('sandbox-chat');
    expect(await ask(page, 'chat')).toEqual({
      content: 'You said: Hello there.',
      headers: [expect.stringMatching(/^[\w-]{36}$/), 'sandbox-chat', 'user'],
    });
    expect(await ask(page, 'stream')).toBe('You said: Hello there.');
    const wav = toneWav({ words: ['alpha'], rate: 16_000 });
    expect(await ask(page, 'transcribe', [...wav])).toMatch(/^1\n00:00:00,000 --> /);
    expect(await ask(page, 'speak')).toEqual({ type: 'audio/mpeg', bytes: expect.any(Number) as number });
    expect(await ask(page, 'failure')).toEqual({
      name: 'NotFoundError',
      status: 404,
      code: 'model_not_found',
      hasId: true,
    });
    await page.close();
  });

  it('of an unlisted origin cannot read answers', async () => {
    const page = await openPage(unlisted);
    await expect(ask(page, 'list')).rejects.toThrow(/Connection error/);
    await page.close();
  });

  it('of an unlisted origin is refused in open mode, in the shape of the SDK', async () => {
    await using open = await startTestService({ env: { PARLANCE_SANDBOX: '1', CORS_ORIGINS: originOf(listed) } });
    const response = await fetch(`${open.url}/v1/models`, { headers: { origin: originOf(unlisted) } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { type: 'permission_error', code: 'origin_not_allowed', param: null },
    });
  });
});

/** A page with the script, at every path. */
async function serve(bundle: string): Promise<Server> {
  const server = createServer((req, res) => {
    if (req.url === '/page.js') res.setHeader('content-type', 'text/javascript').end(bundle);
    else res.setHeader('content-type', 'text/html').end('<script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
