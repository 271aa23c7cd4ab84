/** The API key: asked for once, kept in the tab, seen by no one. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import {
  openPage,
  programs,
  requestsOf,
  sharedBrowser,
  sharedService,
  startPageService,
  textOf,
  type UserPage,
} from './support.ts';

const key = 'a-very-secret-key';

describeWith(programs, 'a service with keys', () => {
  const service = sharedService({ env: { API_KEYS: key } });
  const browser = sharedBrowser();

  const dialog = ({ page }: UserPage) => page.getByRole('dialog', { name: 'API key required' });

  async function enter(page: UserPage, value: string, { remember = false } = {}): Promise<void> {
    await dialog(page).getByLabel('API key', { exact: true }).fill(value);
    if (remember) await dialog(page).getByLabel('Remember on this device').check();
    await dialog(page).getByRole('button', { name: 'Use this key' }).click();
  }

  test('asks for it once; a wrong one is asked for again', async () => {
    const page = await openPage(browser(), service());
    await dialog(page).waitFor();
    await page.hasFocus(dialog(page).getByLabel('API key', { exact: true }));
    await enter(page, 'a-wrong-key');
    await dialog(page).getByText('This key was rejected').waitFor();
    await enter(page, key);
    await dialog(page).waitFor({ state: 'hidden' });
    await page.send('Good morning');
    await page.answer();
    await page.page.reload();
    await page.ready();
    expect(await dialog(page).isVisible()).toBe(false);
  });

  test('is told of the key again after the dialog was closed', async () => {
    const page = await openPage(browser(), service());
    await dialog(page).waitFor();
    await page.page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await textOf(page.models).toBe('Models. Chat: API key required');
    await page.button('Enter the key').click();
    await enter(page, key);
    await page.ready();
  });

  test('for chat alone works for that, and the page says what is withheld', async () => {
    const keys = `keys: [{ name: limited, sha256: ${hash('sha256', key)}, operations: [listChatModels, streamChat] }]`;
    const limited = await startPageService({ files: { 'keys.yaml': keys }, env: { API_KEYS_FILE: 'keys.yaml' } });
    const page = await openPage(browser(), limited);
    await enter(page, key);
    const texts = [
      'TranscriptionThe API key may not use listTranscriptionModels; ask the operator for it.',
      'VoiceThe API key may not use listSpeechModels; ask the operator for it.',
    ];
    await textOf(page.page.getByRole('region', { name: 'Get started' }).locator('.card')).toBe(texts.join('\n'));
    expect(await page.page.getByText('npm run doctor').count()).toBe(0);
    await page.send('Good morning');
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: Good morning');
  });

  test('is gone with the tab, unless the user lets this device remember it', async () => {
    const page = await openPage(browser(), service());
    await enter(page, key);
    await page.ready();
    const tab = await page.newTab();
    await dialog(tab).waitFor();
    await enter(tab, key, { remember: true });
    await tab.ready();
    const another = await page.newTab();
    await another.ready();
    expect(await dialog(another).isVisible()).toBe(false);

    await another.button('Options').click();
    await another.button('Forget the key').click();
    await dialog(another).first().waitFor();
    await dialog(await page.newTab()).waitFor();
  });

  test('is in no address, no log line, and nothing that is served', async () => {
    const page = await openPage(browser(), service());
    const addresses: string[] = [];
    const served: Promise<string>[] = [];
    page.page.on('request', (request) => addresses.push(request.url()));
    page.page.on('response', (response) => served.push(response.text().catch(() => '')));
    await enter(page, key);
    await page.send('read aloud: Good morning');
    await page.answer();
    await page.page.reload();
    await page.ready();
    expect(requestsOf(service()).map(({ operation }) => operation)).toContain('streamChat');
    expect(addresses.length).toBeGreaterThan(5);
    for (const text of [...addresses, page.page.url(), JSON.stringify(service().log), ...(await Promise.all(served))]) {
      expect(text).not.toContain(key);
    }
  });
});
