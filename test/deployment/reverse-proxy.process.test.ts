/** Below a path of a real nginx, with the blocks of docs/guides/reverse-proxy.md. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { ContractDocument } from '../../src/contract/document.ts';
import { open, openSpeechService, sound, startReading } from '../speech/support.ts';
import { freePort } from '../support/free-port.ts';
import { startChromium } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import type { TestService } from '../support/service.ts';
import { nginx, startProxy } from './proxies.ts';

const patience = { timeout: 30_000, interval: 20 };

describeWith(['nginx', 'chromium'], 'below /voice/ of nginx', (programs) => {
  let service: TestService;
  /** As browsers see the service, with a slash at the end. */
  let base: string;

  let browser: Browser;
  const cleanup = new AsyncDisposableStack();

  beforeAll(async () => {
    const port = await freePort();
    base = `http://127.0.0.1:${port}/voice/`;
    const engines = ['chat: { use: ./chat.mjs }', 'speech: { use: ./speech.mjs }', 'made-up: { use: sandbox }'];
    const config = `engines: { ${engines.join(', ')} }\n`;
    service = cleanup.use(await openSpeechService({ config, env: { PUBLIC_URL: base } }));
    const belowPath = nginx((server, path) => server.replace(/location \/ \{[^}]*\}/, path));
    cleanup.use(await startProxy(programs.nginx, belowPath, { url: service.url, port, probe: '/voice/healthz' }));
    browser = await startChromium(['--autoplay-policy=no-user-gesture-required']);
    cleanup.defer(() => browser.close());
  });
  afterAll(() => cleanup.disposeAsync());

  interface Visit {
    readonly page: Page;
    /** Errors of the page, of its console and of its requests. */
    readonly errors: string[];
    readonly paths: string[];
  }

  async function visit(address: string): Promise<Visit> {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const errors: string[] = [];
    const paths: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    // Scalar tries once whether it may eval, and copes.
    page.on('console', (message) => {
      if (message.type() === 'error' && !/unsafe-eval|eval/.test(message.text())) errors.push(message.text());
    });
    page.on('response', (response) => {
      paths.push(new URL(response.url()).pathname);
      if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`);
    });
    page.on('requestfailed', (request) => errors.push(`failed ${request.url()}`));
    await page.goto(address);
    return { page, errors, paths };
  }

  test.each([
    ['voice', /^\/voice\/assets\/main-\w+\.js$/],
    ['voice/', /^\/voice\/assets\/main-\w+\.js$/],
    ['voice/docs', /^\/voice\/assets\/scalar-\w+\.js$/],
  ])('/%s loads with its assets and without errors', async (path, script) => {
    const { page, errors, paths } = await visit(new URL(`/${path}`, base).href);
    await page.waitForLoadState('networkidle'); // the icon comes last
    expect(paths).toContainEqual(expect.stringMatching(script));
    expect(paths.filter((one) => one !== '/voice' && !one.startsWith('/voice/'))).toEqual([]);
    if (path === 'voice/docs') await expect.poll(() => paths, patience).toContain('/voice/openapi.json');
    expect(errors).toEqual([]);
  });

  test('a clip plays from its url, from its id and from the base of the page, while it is being made', async () => {
    const { page } = await visit(base);
    const client = createClient({ baseUrl: base });
    const { id, url } = await client.createClip({ text: '100 gate:clip 50' });
    expect(url).toBe(`${base}api/v1/tts/clips/${id}`);
    const read = `(address) => fetch(address).then(async (answer) => {
      const reader = answer.body.getReader();
      const first = new TextDecoder().decode((await reader.read()).value);
      globalThis.rest = reader.read().then(({ value }) => new TextDecoder().decode(value));
      return { address: answer.url, first };
    })`;
    const byPage = `new URL('api/v1/tts/clips/${id}', document.baseURI).href`;
    for (const address of [JSON.stringify(url), byPage]) {
      expect(await page.evaluate(`(${read})(${address})`)).toEqual({ address: url, first: sound(0, 100) });
    }
    await open(service, 'clip');
    expect(await page.evaluate('globalThis.rest')).toBe(sound(100, 50));
    await client.deleteClip(id);
    expect((await fetch(url)).status).toBe(404);
  });

  test('an `<audio>` element plays it to its end', async () => {
    const { page, errors } = await visit(base);
    const { id } = await createClient({ baseUrl: base }).createClip({ text: 'yes', model: 'sandbox-speech' });
    const play = `(() => {
      const audio = new Audio(new URL('api/v1/tts/clips/${id}', document.baseURI).href);
      return new Promise((resolve) => {
        audio.onended = () => resolve('ended');
        audio.onerror = () => resolve(audio.error.message);
        audio.play().catch((error) => resolve(error.message));
      });
    })()`;
    expect(await page.evaluate(play)).toBe('ended');
    expect(errors).toEqual([]);
  });

  test('speech comes byte by byte', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ text: '100 gate:speech 50' });
    const reading = await startReading(`${base}api/v1/tts`, { method: 'POST', headers, body });
    await expect.poll(() => reading.received, patience).toBe(sound(0, 100));
    await open(service, 'speech');
    expect(await reading.ended).toBe('whole');
  });

  test.each([
    ['openapi.json', 'api/v1'],
    ['openapi-3.2.json', 'api/v1'],
    ['openapi-compat.json', 'v1'],
  ])('%s names the public address', async (document, path) => {
    const { servers } = (await (await fetch(base + document)).json()) as ContractDocument;
    expect(servers.map(({ url }) => url)).toEqual([base + path]);
  });
});
