/**
 * Missing models are downloaded from their cards, and then used by the real programs. A server of the test stands in for
 * the download site, models made by hand for those of the catalog.
 */
import { expect, test, vi } from 'vitest';
import { good, half, serve } from '../engines/whisper-cli/support.ts';
import { standIns } from '../support/catalog.ts';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import {
  transcriptOf,
  fastTimers,
  openPage,
  patience,
  sharedBrowser,
  slowPlayback,
  startPageService,
  textOf,
} from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['chromium', 'whisper-cli', 'whisper-host'], 'the button of a card', () => {
  const browser = sharedBrowser();

  test('prepares a model, stops it, and resumes it', async () => {
    const name = 'ggml-small.bin';
    const { [name]: model } = await standIns();
    // The site sends half of the model and no more, until it is asked for the rest.
    const site = await serve((request, response) => {
      const answer = request.headers.range === undefined ? half(model!) : good(model!);
      return answer(request, response);
    });
    const config = `engines: { it: { use: whisper-cli, mirror: '${site.url}', voiceActivity: 'off', models: [{ id: small, file: data/models/${name} }] } }`;
    const page = await (await openPage(browser(), await startPageService({ config }), { script: fastTimers })).ready();
    const card = page.page.getByRole('region', { name: 'Transcription', exact: true });
    const button = card.getByRole('button', { name: /^(Install|Stop):/ }).first();
    await button.waitFor();
    expect(site.requests).toEqual([]);
    await button.click();
    await textOf(card).toMatch(/Installing \(downloading .*: (49|50) %\)/);
    await button.click();
    await textOf(card).toContain('Stopped. The partial download is kept.');
    await button.click();
    await card.waitFor({ state: 'detached' });
    expect(site.requests.at(-1)?.headers.range).toBe(`bytes=${Math.floor(model!.length / 2)}-`);
    await page.upload('memo.wav', toneWav({ words: ['alpha', 'kilo'], rate: 16_000 }));
    await transcriptOf(page).toBe('alpha kilo');
  });

  test('in the dialog of voices installs one, which is listened to before it is used', async () => {
    const spanish = 'Spanish voice (male, small)';
    const files = await standIns();
    const site = await serve((request, response) =>
      good(files[request.url?.split('/').at(-1) ?? '']!)(request, response),
    );
    const voice = `{ use: sherpa-voice, mirror: '${site.url}', pulled: true }`;
    const service = await startPageService({ config: `engines: { espeak: { use: espeak }, voice: ${voice} }` });
    const page = await (await openPage(browser(), service, { script: fastTimers + slowPlayback })).ready();
    const dialog = page.page.getByRole('dialog', { name: 'Voice' }); // the page behind it has the same buttons
    const button = (label: string) => dialog.getByRole('button', { name: `${label}: ${spanish}` });
    await page.models.click();
    await page.button('Voice English').click();
    await button('Install').press('Enter');
    await page.hasFocus(button('Listen'));
    await expect.poll(() => button('Listen').isEnabled(), patience).toBe(true); // the listings have the voice, too
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
