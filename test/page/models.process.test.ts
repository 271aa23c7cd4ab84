/** The choice of models: what is there, what is missing and why, where the data goes, and what goes with it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answers, startProvider } from '../support/provider.ts';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { faultsOf } from './axe.ts';
import {
  draftOf,
  fastTimers,
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  startPageService,
  storedContents,
  textOf,
} from './support.ts';

const config = `
engines:
  whisper: { use: whisper-cli, models: [{ id: tones, file: '\${WHISPER_MODEL}' }] }
  made-up: { use: sandbox }
  groq: { use: hosted-stt, baseUrl: https://api.groq.com/openai/v1, apiKey: '\${GROQ_API_KEY}', models: [large] }
  paid: { use: hosted-stt, baseUrl: https://api.groq.com/openai/v1, apiKey: secret, models: [away] }
`;

describeWith(programs, 'the models', () => {
  const browser = sharedBrowser();
  const service = sharedService({ config });

  test('list what is unavailable, disabled and with its reason', async () => {
    const page = await openPage(browser(), service());
    await page.ready();
    await page.models.click();
    const large = page.picker('Transcription').locator('option[value=large]');
    expect(await large.isDisabled()).toBe(true);
    expect(await large.textContent()).toBe('\u2068large\u2069 · No API key is configured for the provider groq.');
  });

  test('say where the data goes, and so does the header without a click', async () => {
    const page = await openPage(browser(), service());
    await page.ready();
    const sign = page.page.locator('header .sign');
    await textOf(sign).toBe('Everything stays on this machine');
    await page.models.click();
    const note = page.page.locator('#transcription-note');
    await textOf(note).toBe('On this machine');
    await page.picker('Transcription').selectOption('away');
    await textOf(note).toBe('Sent to paid');
    await page.page.keyboard.press('Escape');
    await page.hasFocus(page.models);
    await textOf(sign).toBe('Recordings are sent to paid');
  });

  test('and options that are chosen in another tab are kept', async () => {
    const page = await (await openPage(browser(), service())).ready();
    const other = await page.newTab();
    await other.choose('Chat', 'sandbox-chat-slow');
    await textOf(page.models).toBe('Models. Chat: Sandbox chat slow');
    await page.page.getByRole('switch', { name: 'Read answers aloud' }).click();
    await other.page.reload();
    await textOf((await other.ready()).models).toBe('Models. Chat: Sandbox chat slow');
    await other.page.getByRole('switch', { name: 'Read answers aloud', checked: true }).waitFor();
  });

  /** The longest that an engine may list. */
  const hostileName = '<img src=x onerror=alert(1)>\u202e'.padEnd(256, 'W');

  test('leave the conversation its space, however long the name of the model is', async () => {
    const page = await openPage(browser(), service());
    await page.page.route('**/api/v1/models', async (route) => {
      const response = await route.fetch();
      const { data, ...list } = (await response.json()) as { data: { name: string }[] };
      await route.fulfill({ response, json: { ...list, data: data.map((one) => ({ ...one, name: hostileName })) } });
    });
    await page.page.reload();
    await page.send('Good morning');
    await page.answer();
    await textOf(page.models).toBe(`Models. Chat: ${hostileName}`);
    const header = page.page.getByRole('banner');
    await page.page.setViewportSize({ width: 1280, height: 800 });
    expect((await header.boundingBox())!.height).toBeLessThanOrEqual(120);
    await page.page.setViewportSize({ width: 320, height: 600 });
    await page.page.locator('.sidebar').waitFor({ state: 'detached' });
    expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    for (const button of [page.models, page.button('New')]) {
      const { x, width } = (await button.boundingBox())!;
      expect({ isWide: width >= 44, isInside: x + width <= 320 }).toEqual({ isWide: true, isInside: true });
    }
    await page.models.click();
    expect(await page.page.locator('img').count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
  });

  test('send a system prompt and a temperature only once they are set, and keep them', async () => {
    const page = await openPage(browser(), service());
    const request = async (text: string) => {
      const [one] = await Promise.all([page.page.waitForRequest(/\/chat\/stream$/), page.send(text)]);
      await page.answer();
      return one.postDataJSON() as object;
    };
    const plain = await request('Good morning');
    expect(plain).not.toHaveProperty('temperature');
    expect(plain).toMatchObject({ messages: [{ role: 'user', content: 'Good morning' }] });
    await page.button('Options').click();
    await page.page.getByLabel('System prompt').fill('Be brief.');
    await page.page.getByLabel('Set the temperature').check();
    await page.page.getByRole('slider', { name: 'Temperature' }).press('ArrowLeft');
    await page.page.keyboard.press('Escape');
    await page.hasFocus(page.button('Options'));
    await storedContents(page).toContain('You said: Good morning');
    await page.page.reload();
    await page.answer(); // the conversation is there again
    const system = { role: 'system', content: 'Be brief.' };
    expect(await request('And now?')).toMatchObject({ temperature: 0.6, messages: [system, {}, {}, {}] });
    await page.button('Options').click();
    await page.page.getByLabel('Set the temperature').uncheck();
    await page.page.getByLabel('System prompt').fill(' ');
    await page.page.keyboard.press('Escape');
    expect(await request('Good night')).toMatchObject({ messages: [{ role: 'user' }, {}, {}, {}, {}] });
  });

  test('show at length why the only model does not work, and notice its file once it was copied', async () => {
    const file = join(await temporaryDirectory(), 'gone.bin');
    const config = `engines: { whisper: { use: whisper-cli, models: [{ id: gone, file: '${file}' }] } }`;
    const page = await openPage(browser(), await startPageService({ config }), { script: fastTimers });
    await page.models.click();
    await textOf(page.page.locator('#transcription-note')).toBe('Not available');
    await page.page.keyboard.press('Escape');
    await textOf(page.page.getByRole('region', { name: 'Get started' })).toContain('gone.bin does not exist');
    expect(await page.button('Speak').isDisabled()).toBe(true);
    await writeToneModel(file);
    await expect.poll(() => page.button('Speak').isEnabled(), patience).toBe(true);
  });

  test('show on a phone, too, why a download has failed: its address and its path once each', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${'without-end'.repeat(4)}`;
    const models = '[{ id: base, file: data/models/ggml-base.bin }]';
    const { service, ...rest } = await startPageService({
      config: `engines: { whisper: { use: whisper-cli, models: ${models}, voiceActivity: off, mirror: '${mirror}' } }`,
    });
    await service.registry.assets.install({}, { signal: AbortSignal.timeout(60_000) });
    const context = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
    const page = await openPage(browser(), rest, { context });
    const advice = page.page.getByRole('region', { name: 'Get started' });
    await textOf(advice).toContain('404 Not Found');
    const text = (await advice.textContent())!;
    expect(text.match(/ggml-base\.bin/g)).toHaveLength(2);
    expect(text.match(/http:/g)).toHaveLength(1);
    // A page that is too wide widens `innerWidth` as well.
    expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('offer the sandbox at once, if it is on', async () => {
    const page = await openPage(browser(), await startPageService({ config: 'engines: { s: { use: sandbox } }' }));
    await page.button('read aloud: Good morning from the sandbox').click();
    await draftOf(page).toBe('read aloud: Good morning from the sandbox');
    await page.hasFocus(page.message);
    await page.message.press('Enter');
    await textOf((await page.answer()).locator('.markdown')).toContain('You said');
  });

  test('name a provider that refuses its key, as text, before a model to install and other ways', async () => {
    const provider = await startProvider();
    provider.behave(answers(401, { error: { message: 'Wrong <img src=x> key.' } }));
    const config = `engines:
      mind: { use: llm-agent, baseUrl: '${provider.baseUrl}', apiKey: wrong }
      llama: { use: llama-local, models: [{ id: local-chat, model: qwen3-0.6b }] }`;
    const page = await openPage(browser(), await startPageService({ config }));
    const card = page.page.getByRole('region', { name: 'Chat', exact: true });
    await textOf(card).toMatch(
      /mind: The provider rejected .*The provider said: "Wrong <img src=x> key\."\..*Qwen3.*Or start Ollama or llama\.cpp, or set OPENAI_API_KEY\./s,
    );
    expect(await card.locator('img').count()).toBe(0);
  });

  test('say what to do where nothing is configured', async () => {
    const page = await openPage(browser(), await startPageService({ config: 'engines: {}' }));
    const advice = page.page.getByRole('region', { name: 'Get started' });
    for (const text of ['npm run setup', 'start Ollama', 'install espeak-ng']) await textOf(advice).toContain(text);
    await page.message.fill('Good morning');
    expect(await page.button('Send').isDisabled()).toBe(true);
  });
});
