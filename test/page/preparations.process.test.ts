/** Cards of what can be installed: with a press where that is allowed, else by a command; alive without a reload. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import type { TestServiceOptions } from '../support/service.ts';
import { faultsOf } from './axe.ts';
import { brain, emit } from './brain.ts';
import {
  fastTimers,
  openPage,
  patience,
  programs,
  sharedBrowser,
  startPageService,
  textOf,
  type UserPage,
} from './support.ts';

describeWith(programs, 'what is missing', () => {
  const browser = sharedBrowser();

  async function open(options: TestServiceOptions = {}) {
    const service = await startPageService({
      config: 'engines: { brain: { use: ./brain.mjs }, espeak: { use: espeak } }',
      files: { 'brain.mjs': brain },
      ...options,
    });
    const page = await openPage(browser(), service, { script: fastTimers });
    await page.ready();
    await card(page).waitFor();
    return { page, service };
  }

  const card = ({ page }: UserPage) => page.getByRole('region', { name: 'Chat', exact: true });
  const installedCard = ({ page }: UserPage) => page.getByRole('region', { name: 'Chat on this machine' });
  const stopButton = (page: UserPage) => page.button('Stop: Brain 1');

  test('is a card with its purpose and size, the license behind details; installed by a press, it works at once', async () => {
    const { page } = await open();
    await textOf(card(page)).toMatch(/stay on this machine.*Brain 1Good for <i>thinking<\/i>\.397 MB/);
    const license = page.page.getByText('License: Apache-2.0');
    expect(await license.isVisible()).toBe(false);
    await page.page.getByText('Details of Brain 1').press('Enter');
    await license.waitFor();
    await page.button('Install: Brain 1').focus();
    await page.page.keyboard.press('Enter');
    await page.hasFocus(stopButton(page)); // the same button
    await textOf(card(page)).toContain('Installing (downloading Brain 1: 42 %).');
    const bar = page.page.getByRole('progressbar', { name: 'Installing Brain 1' });
    expect(await bar.evaluate(({ value }: { value: number }) => value)).toBeCloseTo(0.42, 2);
    expect(await page.page.locator('details.more').getAttribute('open')).toBeNull(); // further models stay folded
    expect(await faultsOf(page)).toEqual([]);

    await emit('brain-comes');
    await textOf(installedCard(page)).toContain('Installed. Type a message and press “Send”.');
    await page.hasFocus(page.button('Use: Brain 1')); // the same button
    await page.page.keyboard.press('Enter');
    await page.hasFocus(page.message);
    await textOf(page.hint).toBe('Type a message and press “Send”.');
    await page.page.keyboard.type('Good morning');
    await expect.poll(() => page.button('Send').isEnabled(), patience).toBe(true);
  });

  test('can be installed again after it was removed', async () => {
    const { page, service } = await open();
    await page.button('Install: Brain 1').click();
    await stopButton(page).waitFor();
    await emit('brain-comes');
    await page.button('Use: Brain 1').waitFor();
    await emit('brain-goes');
    await service.service.registry.recheck();
    await page.page.evaluate('document.dispatchEvent(new Event("visibilitychange"))'); // the user returns
    await page.button('Install: Brain 1').waitFor();
    await card(page).waitFor();
  });

  test('is there once, with a title for people and a purpose, whatever it consists of', async () => {
    const local = ['whisper: { use: whisper-cli, models: [{ id: local, file: data/models/ggml-base.bin }]', 'voice: { use: sherpa-voice', 'mind: { use: llama-local']; // prettier-ignore
    const config = `engines: { ${local.map((one) => `${one}, pulled: true }`).join()} }`;
    const page = await openPage(browser(), await startPageService({ config }));
    const setup = page.page.getByRole('region', { name: 'Get started' });
    await setup
      .getByText(/^\d+ more$/)
      .first()
      .waitFor();
    for (const more of await setup.getByText(/^\d+ more$/).all()) await more.click();
    const titles = await setup.locator('.offer strong').allTextContents();
    expect(titles).toEqual([...new Set(titles)]);
    expect(titles).toEqual(expect.arrayContaining(['Everyday transcription (Whisper base)', 'Small chat model (Qwen3 0.6B)', 'English voice (female, clear)'])); // prettier-ignore
    expect(titles.join()).not.toMatch(/sherpa|llama|whisper\.cpp|Silero/);
    expect(await setup.getByText('Good for').count()).toBe(titles.length);
  });

  test('is stopped, and another one begun; the others wait meanwhile, and say so', async () => {
    const { page } = await open();
    await page.button('Install: Brain 1').click();
    await stopButton(page).waitFor();
    await page.page.getByText('2 more').click();
    await page.button('Install: <img src=x>').click({ force: true }); // it says that it waits
    await textOf(page.hint).toBe('Another installation is running. Wait for it, or stop it.');
    await textOf(card(page)).toMatch(/3.2 GB.*License: MIT.*unknown size.*License: MIT/);
    expect(await page.page.locator('img, .offer :is(i, b)').count()).toBe(0);
    await stopButton(page).click();
    await textOf(card(page)).toContain('Stopped. The partial download is kept.');
    await page.button('Install: <img src=x>').press('Enter');
    await page.hasFocus(page.button('Stop: <img src=x>'));
    await page.page.keyboard.press('Enter');
    await page.hasFocus(page.button('Install: <img src=x>'));
  });

  test('shows why it has failed, and is tried again', async () => {
    const { page } = await open();
    await page.button('Install: Brain 1').click();
    await stopButton(page).waitFor();
    await emit('brain-breaks');
    await textOf(page.alert).toContain('<b>brain.gguf</b>: 404 Not Found');
    await textOf(page.status).toContain('404 Not Found');
    expect(await faultsOf(page)).toEqual([]);
    await page.button('Try again: Brain 1').click();
    await stopButton(page).waitFor();
  });

  test('shows why a start was refused', async () => {
    const { page, service } = await open();
    await page.page.route('**/preparations', (route) => route.abort()); // the page does not learn of the other one
    expect((await service.api('/preparations/large-brain', { method: 'POST' })).status).toBe(202);
    await page.button('Install: Brain 1').click();
    await textOf(page.alert).toContain('Code preparation-in-progress: what to do');
  });

  test('is a command that can be copied, where the page may not start it', async () => {
    const { page } = await open({ env: { PREPARE: 'off' } });
    await textOf(card(page)).toContain('npm run setup -- brain');
    expect(await page.button(/^Install/).count()).toBe(0);
    const setup = page.page.getByRole('region', { name: 'Get started' });
    await textOf(setup).toContain('Preparations over HTTP are off (PREPARE=off).');
    await page.button('Copy the command npm run setup -- brain').press('Enter');
    await textOf(page.status).toBe('Copied.');
    await page.message.press('ControlOrMeta+v');
    await expect.poll(() => page.message.inputValue(), patience).toBe('npm run setup -- brain');
    expect(await faultsOf(page)).toEqual([]);
  });

  test('names the sandbox and its command', async () => {
    const { page } = await open();
    await page.button('Copy the command PARLANCE_SANDBOX=1 npm start').waitFor();
  });

  test.each([
    ['is offered beside what works, before the conversation begins', '', 1],
    ['is not offered where everything is there', 'large', 0],
  ])('%s', async (_what, _config, count) => {
    const both = 'engines: { made-up: { use: sandbox }, brain: { use: ./brain.mjs } }';
    const { page } = await openWith(count === 1 ? both : 'engines: { made-up: { use: sandbox } }');
    await page.page.getByText('Speak, or type.').waitFor();
    const offer = page.page.getByRole('region', { name: 'Chat on this machine' });
    const line = page.page.getByText('Also available: Chat on this machine');
    await expect.poll(() => line.count(), patience).toBe(count);
    expect(await offer.isVisible()).toBe(false);
    if (count === 1) {
      await line.press('Enter');
      await offer.waitFor();
      await page.page.getByTitle('Do not offer this again').click();
      await page.hasFocus(page.message);
      await page.page.reload();
      await page.ready();
    }
    expect(await line.count()).toBe(0);
  });

  async function openWith(config: string) {
    const service = await startPageService({ config, files: { 'brain.mjs': brain }, env: { CHAT_MODEL: 'sandbox-chat' } }); // prettier-ignore
    const page = await openPage(browser(), service, { script: fastTimers });
    return { page: await page.ready(), service };
  }
});
