/**
 * Missing models are downloaded from their cards, and then used by the real programs. A server of the test stands in for
 * the download site, models made by hand for those of the catalog.
 */
import { expect, test, vi } from 'vitest';
import { hasLibrary } from '../engines/llama-local/support.ts';
import { good, half, serve } from '../engines/whisper-cli/support.ts';
import { standIns } from '../support/catalog.ts';
import { answers } from '../support/chat-model.ts';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import {
  transcriptOf,
  fastTimers,
  openPage,
  sharedBrowser,
  startPageService,
  textOf,
  type UserPage,
} from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const models = {
  transcription: {
    card: 'Transcription',
    file: 'ggml-small.bin',
    config: (mirror: string) =>
      `{ use: whisper-cli, mirror: '${mirror}', voiceActivity: 'off', models: [{ id: small, file: data/models/ggml-small.bin }] }`,
    async works(page: UserPage) {
      await page.upload('memo.wav', toneWav({ words: ['alpha', 'kilo'], rate: 16_000 }));
      await transcriptOf(page).toBe('alpha kilo');
    },
  },
  chat: {
    card: 'Chat',
    file: 'Qwen3-0.6B-Q8_0.gguf',
    config: (mirror: string) => `{ use: llama-local, mirror: '${mirror}' }`,
    async works(page: UserPage) {
      await page.send('Hello.');
      await textOf(await page.answer()).toContain(answers.plain);
    },
  },
  speech: {
    card: 'Voice',
    file: 'es_ES-carlfm-x_low.onnx',
    config: (mirror: string) => `{ use: sherpa-voice, mirror: '${mirror}', voices: [es_ES-carlfm-x_low] }`,
    async works(page: UserPage) {
      const asked = page.page.waitForRequest(/\/tts\/clips$/);
      await page.hasFocus(page.button('Listen: Spanish voice (male, small)')); // the button that installed it
      await page.page.keyboard.press('Enter');
      expect((await asked).postDataJSON()).toEqual({
        model: 'local-voice',
        text: 'Hello!', // the first sentence
      });
      await page.sees({ isSounding: true });
    },
  },
} as const;
type Capability = keyof typeof models;

describeWith(['chromium', 'whisper-cli', 'whisper-host'], 'the button of a card', () => {
  const browser = sharedBrowser();

  /** The site sends half of the model and no more, until it is asked for the rest. */
  async function open({ file, config }: (typeof models)[Capability]) {
    const files = await standIns();
    const whole = files[file]!;
    const site = await serve((request, response) => {
      const name = request.url?.split('/').at(-1) ?? '';
      const answer = name === file && request.headers.range === undefined ? half(whole) : good(files[name]!);
      return answer(request, response);
    });
    const service = await startPageService({ config: `engines: { it: ${config(site.url)} }` });
    const page = await (await openPage(browser(), service, { script: fastTimers })).ready();
    return { page, site, halfBytes: Math.floor(whole.length / 2) };
  }

  test.skipIf(!hasLibrary).each(['transcription', 'chat', 'speech'] as const)(
    'prepares %s, stops it, and resumes it',
    async (capability) => {
      const { card: name, works } = models[capability];
      const { page, site, halfBytes } = await open(models[capability]);
      const card = page.page.getByRole('region', { name, exact: true });
      const button = card.getByRole('button', { name: /^(Install|Stop):/ }).first();
      await button.waitFor();
      expect(site.requests).toEqual([]);
      await button.click();
      await textOf(card).toMatch(/Installing \(downloading .*: \d\d %\)/);
      await button.click();
      await textOf(card).toContain('Stopped. The partial download is kept.');
      await button.click();
      await card.waitFor({ state: 'detached' });
      expect(site.requests.at(-1)?.headers.range).toBe(`bytes=${halfBytes}-`);
      await works(page);
    },
  );

  test('in the dialog of voices installs one, which is listened to before it is used', async () => {
    const spanish = 'Spanish voice (male, small)';
    const files = await standIns();
    const site = await serve((request, response) =>
      good(files[request.url?.split('/').at(-1) ?? '']!)(request, response),
    );
    const voice = `{ use: sherpa-voice, mirror: '${site.url}', pulled: true }`;
    const service = await startPageService({ config: `engines: { espeak: { use: espeak }, voice: ${voice} }` });
    const page = await (await openPage(browser(), service, { script: fastTimers })).ready();
    const dialog = page.page.getByRole('dialog', { name: 'Voice' }); // the page behind it has the same buttons
    const button = (label: string) => dialog.getByRole('button', { name: `${label}: ${spanish}` });
    await page.models.click();
    await page.button('Voice English').click();
    await button('Install').press('Enter');
    await page.hasFocus(button('Listen'));
    const asked = page.page.waitForRequest(/\/tts\/clips$/);
    await page.page.keyboard.press('Enter');
    expect((await asked).postDataJSON()).toMatchObject({ model: 'local/es_ES-carlfm-x_low' });
    await page.sees({ isSounding: true });
    await button('Use').press('Enter');
    await page.hasFocus(page.page.getByRole('searchbox'));
    await page.page.getByRole('radio', { name: spanish }).first().waitFor();
    expect(await button('Use').count()).toBe(0);
  });
});
