/** Cards of what is missing: prepared with a press where that is allowed, else by a command; alive without a reload. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import type { TestServiceOptions } from '../support/service.ts';
import { faultsOf } from './axe.ts';
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

/** Waits for the process to emit `brain-comes` or `brain-breaks`. */
const brain = `
let isThere = false;
const bytes = 397_000_000;
export default {
  contract: 1,
  name: 'brain',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: (_options, { dataDir }) => {
    const group = (id, title, bytes, license, isConfigured) => ({ id, isConfigured, assets: [{
      ...{ kind: 'made', id, title, bytes, license, verb: 'downloading', source: 'example.com', path: dataDir + '/' + id },
      isReady: () => id === 'brain' && isThere,
      async make({ signal, progress }) {
        progress(0.42);
        await new Promise((resolve, reject) => {
          process.once('brain-comes', resolve);
          process.once('brain-breaks', () => reject(new Error('downloading brain.gguf: 404 Not Found')));
          signal.addEventListener('abort', () => reject(signal.reason));
        });
        isThere = true;
      },
    }] });
    return {
    models: async () => [{ id: 'brain', local: true }],
    availability: async () =>
      isThere
        ? { available: true, code: 'ready', reason: 'Ready.' }
        : { available: false, code: 'model-file-missing', reason: 'The model is missing.' },
    assets: [
      group('brain', 'Brain 1', bytes, 'Apache-2.0', true),
      group('large-brain', '<img src=x>', 8 * bytes, 'MIT'),
      group('odd-brain', 'Brain of unknown size', null, 'MIT'),
    ],
    complete() {},
    };
  },
};
`;

const emit = (event: string) => (process as NodeJS.EventEmitter).emit(event);

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
  const stopButton = (page: UserPage) => page.button('Stop: Brain 1');

  test('is a card with size and license, prepared by a press, and works without a reload', async () => {
    const { page } = await open();
    await textOf(card(page)).toMatch(/stay on this machine.*Brain 1.*397 MB · Apache-2.0/);
    await page.button('Install: Brain 1').focus();
    await page.page.keyboard.press('Enter');
    await page.hasFocus(stopButton(page)); // the same button
    await textOf(card(page)).toContain('Installing (downloading Brain 1: 42 %).');
    const bar = page.page.getByRole('progressbar', { name: 'Installing Brain 1' });
    expect(await bar.evaluate(({ value }: { value: number }) => value)).toBeCloseTo(0.42, 2);
    expect(await page.page.locator('details.more').getAttribute('open')).toBeNull(); // further models stay folded
    expect(await faultsOf(page)).toEqual([]);

    emit('brain-comes');
    await card(page).waitFor({ state: 'detached' });
    await page.models.click();
    await textOf(page.page.locator('#chat-note')).toBe('On this machine');
    await page.page.keyboard.press('Escape');
    await page.message.fill('Good morning');
    await expect.poll(() => page.button('Send').isEnabled(), patience).toBe(true);
  });

  test('is stopped, and another one begun; the others wait meanwhile, and say so', async () => {
    const { page } = await open();
    await page.button('Install: Brain 1').click();
    await page.page.getByText('2 more').click();
    await page.button('Install: <img src=x>').click({ force: true }); // it says that it waits
    await textOf(page.hint).toBe('Another installation is running. Wait for it, or stop it.');
    await textOf(card(page)).toMatch(/3.2 GB · MIT.*unknown size · MIT/);
    expect(await page.page.locator('img').count()).toBe(0);
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
    emit('brain-breaks');
    await textOf(page.alert).toContain('404 Not Found');
    await textOf(page.status).toContain('404 Not Found');
    expect(await faultsOf(page)).toEqual([]);
    await page.button('Try again: Brain 1').click();
    await stopButton(page).waitFor();
  });

  test('shows why a start was refused', async () => {
    const { page, service } = await open();
    expect((await service.api('/preparations/large-brain', { method: 'POST' })).status).toBe(202);
    await page.button('Install: Brain 1').click();
    await textOf(page.alert).toContain('Code preparation-in-progress: what to do');
  });

  test('is a command that can be copied, where the page may not start it', async () => {
    const { page } = await open({ env: { PREPARE: 'off' } });
    await textOf(card(page)).toContain('npm run setup -- brain');
    expect(await page.button(/^Install/).count()).toBe(0);
    const setup = page.page.getByRole('region', { name: 'What to do next' });
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
    await expect.poll(() => offer.count(), patience).toBe(count);
    await page.send('Good morning');
    await page.answer();
    expect(await offer.count()).toBe(0);
  });

  async function openWith(config: string) {
    const service = await startPageService({ config, files: { 'brain.mjs': brain }, env: { CHAT_MODEL: 'sandbox-chat' } }); // prettier-ignore
    const page = await openPage(browser(), service, { script: fastTimers });
    return { page: await page.ready(), service };
  }
});
