/** The pickers: what is there, what is missing and why, and where the data goes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import { draftOf, openPage, patience, programs, sharedBrowser, startPageService, textOf } from './support.ts';

/** Hears once a file is there. */
const preparingEngine = `
import { existsSync } from 'node:fs';

export default {
  contract: 1,
  name: 'growing',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: async () => [{ id: 'growing', local: true }],
    availability: async () =>
      existsSync(context.resolve('ready'))
        ? { available: true, code: 'ready', reason: 'Ready.' }
        : { available: false, code: 'preparing', reason: 'The model is being downloaded: 42 %.' },
    transcribe: async () => ({ text: 'grown', language: null }),
  }),
};
`;

describeWith(programs, 'the pickers', () => {
  const browser = sharedBrowser();

  test('list what is unavailable, disabled and with its reason', async () => {
    const page = await openPage(browser(), await startPageService());
    await page.ready();
    const large = page.picker('Hears').locator('option[value=large]');
    expect(await large.isDisabled()).toBe(true);
    const { data } = (await (await fetch(new URL('api/v1/transcribe/models', page.page.url()))).json()) as {
      data: { id: string; reason: string }[];
    };
    const { reason } = data.find(({ id }) => id === 'large')!;
    expect(await large.textContent()).toBe(`large · ${reason}`);
    expect(reason).toBe('No API key is configured for the provider groq.');
  });

  test('say where the data goes', async () => {
    const page = await openPage(browser(), await startPageService({ env: { GROQ_API_KEY: 'secret' } }));
    await page.ready();
    await textOf(page.page.locator('#transcription-note')).toBe('here');
    await page.picker('Hears').selectOption('large');
    await textOf(page.page.locator('#transcription-note')).toBe('leaves this machine: groq');
  });

  test('show what is being prepared, until it works: without a reload', async () => {
    const config = 'engines: { growing: { use: ./growing.mjs } }';
    const service = await startPageService({ config, files: { 'growing.mjs': preparingEngine } });
    const page = await openPage(browser(), service);
    await textOf(page.page.locator('#transcription-note')).toContain('The model is being downloaded: 42 %.');
    expect(await page.page.getByRole('progressbar', { name: 'Preparing' }).isVisible()).toBe(true);
    expect(await page.button('Speak').isDisabled()).toBe(true);

    await writeFile(join(service.dir, 'ready'), '');
    await expect.poll(() => page.button('Speak').isEnabled(), patience).toBe(true);
    await textOf(page.page.locator('#transcription-note')).toBe('here');
    await page.upload('memo.wav', toneWav({ words: ['alpha'], rate: 16_000 }));
    await draftOf(page).toBe('grown');
  });

  test('say what to do where nothing is configured', async () => {
    const page = await openPage(browser(), await startPageService({ config: 'engines: {}' }));
    const advice = page.page.getByRole('region', { name: 'What to do next' });
    for (const text of ['npm run setup', 'Start Ollama', 'Install espeak-ng']) await textOf(advice).toContain(text);
    await page.message.fill('Good morning');
    expect(await page.button('Send').isDisabled()).toBe(true);
  });

  test('stay as they were at the next visit', async () => {
    const service = await startPageService();
    const page = await openPage(browser(), service);
    await page.choose('Answers', 'sandbox-chat-slow');
    await page.page.reload();
    await page.ready();
    expect(await page.picker('Answers').inputValue()).toBe('sandbox-chat-slow');
  });
});
