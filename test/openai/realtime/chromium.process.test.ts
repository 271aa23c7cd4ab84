/** Spoken conversations in Chromium, over TLS, with a client secret and a fake microphone. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { blockWith, home } from '../../docs/support/pages.ts';
import { bearer, keysFile, tokenOf } from '../../keys/support/keys.ts';
import { startChromium } from '../../support/chromium.ts';
import { describeWith } from '../../support/programs.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import { startTestService, type TestService } from '../../support/service.ts';

vi.setConfig({ testTimeout: 120_000 });

const guide = blockWith('docs/guides/conversation.md', 'html', '<!doctype html>');
const microphone = join(import.meta.dirname, 'pages/microphone.js');
const certificate = join(home, 'test/fixtures/tls/localhost.pem');

const story = 'This is a story that is never over. '.repeat(6).trim();
const question = 'Please continue.';
/** All that is understood has this answer, also the half of a question. */
const config = `engines: { made-up: { use: sandbox, answers: [{ contains: e, say: '${story}' }] } }`;

/** Records the events of the page's session, and checks its laws after the test. */
function observe(page: Page) {
  const [received, sent]: WireEvent[][] = [[], []];
  const waiting: { readonly type: string; readonly resolve: (event: WireEvent) => void }[] = [];
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      const event = JSON.parse(String(payload)) as WireEvent;
      received!.push(event);
      for (const { type, resolve } of waiting) if (type === event.type) resolve(event);
    });
    socket.on('framesent', ({ payload }) => sent!.push(JSON.parse(String(payload)) as WireEvent));
  });
  onTestFinished(() => expect(breachesOf(received!, { isWhole: false, sentIds: [] })).toEqual([]));
  return {
    sent: sent!,
    next: (type: string) => new Promise<WireEvent>((resolve) => waiting.push({ type, resolve })),
  };
}

describeWith(['chromium'], 'in Chromium', () => {
  let browser: Browser;
  let service: TestService;
  let recording: string;
  /** A page of another origin on this machine. */
  const pages = createServer((_request, response) => {
    response.end(guide.replace('ws://127.0.0.1:8484', service.url.replace('http', 'ws')));
  });

  beforeAll(async () => {
    setDefaultCACertificates([...getCACertificates(), readFileSync(certificate, 'utf8')]);
    const tls = { TLS_CERT: certificate, TLS_KEY: certificate.replace('.pem', '-key.pem') };
    const env = { ...tls, API_KEYS_FILE: 'keys.yaml' };
    const files = { 'keys.yaml': keysFile({ name: 'app' }) };
    [browser, service] = await Promise.all([startChromium(), startTestService({ config, env, files })]);
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    const headers = bearer(tokenOf('app'));
    const speech = await service.post('/tts', { text: question, format: 'wav' }, { headers });
    recording = Buffer.from(await speech.arrayBuffer()).toString('base64');
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
    await service[Symbol.asyncDispose]();
  });

  async function openPage() {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    onTestFinished(async () => {
      await page.close();
      expect(errors).toEqual([]);
    });
    const session = observe(page);
    await page.addInitScript({ path: microphone });
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}`);
    /** A busy machine tears holes into the sound: who is not understood in a word says it again. */
    async function say(): Promise<void> {
      for (let take = 1; take <= 5; take++) {
        const heard = session.next('conversation.item.input_audio_transcription.completed');
        await page.evaluate(`say('${recording}')`);
        if (/Please|continue\./.test((await heard).transcript ?? '')) return;
      }
      throw new Error('The service has not understood a word.');
    }
    return { page, session, say };
  }

  async function createSecret(): Promise<string> {
    const headers = { ...bearer(tokenOf('app')), 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{}' };
    const answer = await fetch(`${service.url}/v1/realtime/client_secrets`, init);
    return ((await answer.json()) as { readonly value: string }).value;
  }

  test('the page of the guide talks, and can be interrupted', async () => {
    expect(guide.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
    const { page, session, say } = await openPage();
    await page.getByRole('textbox').fill(await createSecret());
    await page.getByRole('button', { name: 'Talk' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    const sound = session.next('response.output_audio.delta');
    await say();
    await sound;
    const cut = session.next('conversation.item.retrieved');
    await say();
    await cut;
    const answers = () => page.locator('dd').allTextContents();
    await expect.poll(async () => (await answers()).at(-1), { timeout: 60_000 }).toBe(story);
    const [first = ''] = await answers();
    expect(first).toMatch(/^\w.* …$/);
    expect(story.startsWith(first.replace(' …', ''))).toBe(true);
    expect((await page.locator('dt').allTextContents()).at(-1)).toMatch(/Please|continue\./);
    const truncations = session.sent.filter(({ type }) => type === 'conversation.item.truncate');
    expect(truncations.length).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Talk' }).waitFor();
  });
});
