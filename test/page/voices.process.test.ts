/** The voices of a model: a hundred of eSpeak, found, chosen and listened to. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { faultsOf } from './axe.ts';
import {
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  slowPlayback,
  startPageService,
  textOf,
  type OpenOptions,
  type UserPage,
} from './support.ts';

describeWith(programs, 'the voices', () => {
  const browser = sharedBrowser();
  const service = sharedService();
  const open = async (options: OpenOptions = {}): Promise<UserPage> => {
    const page = await (await openPage(browser(), service(), options)).ready();
    await page.models.click();
    return page;
  };
  const dialog = ({ page }: UserPage) => page.getByRole('dialog', { name: 'Voice' });
  const search = (page: UserPage) => dialog(page).getByRole('searchbox', { name: 'Search voices' });

  test('have a default with its name', async () => {
    const page = await open();
    await textOf(page.page.locator('#voice')).toBe('English');
    await page.button('Voice English').click();
    expect(await dialog(page).getByRole('radio').first().isChecked()).toBe(true);
    await textOf(dialog(page).locator('.voice').first()).toContain('English default');
  });

  test('are sorted, found, listened to and chosen by the keyboard alone', async () => {
    const page = await open({ script: slowPlayback });
    await page.button('Voice English').press('Enter');
    await page.hasFocus(search(page));
    expect(await dialog(page).getByRole('radio').count()).toBeGreaterThan(80);
    await page.page.keyboard.type('DEUTSCH');
    await textOf(dialog(page)).toContain('This model has no matching voice.');
    await search(page).fill('german');
    await expect.poll(() => dialog(page).getByRole('radio').count(), patience).toBe(1);
    await page.page.keyboard.press('Tab');
    await page.page.keyboard.press('Space');
    await page.page.keyboard.press('Tab');
    await page.hasFocus(page.button('Listen to German'));
    const [request] = await Promise.all([page.page.waitForRequest(/\/tts\/clips$/), page.page.keyboard.press('Enter')]);
    expect(request.postDataJSON()).toMatchObject({ voice_id: 'de', text: 'Hallo!' });
    await page.sees({ isSounding: true });
    expect(await faultsOf(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Done' }).press('Enter');
    await page.sees({ isSounding: false });
    await textOf(page.page.locator('#voice')).toBe('German');

    await page.page.reload();
    await page.ready();
    await page.models.click();
    await textOf(page.page.locator('#voice')).toBe('German');
  });

  test('that can be installed are beside those that are there, and found by the same search', async () => {
    const config = 'engines: { espeak: { use: espeak }, voice: { use: sherpa-voice, pulled: true } }';
    const page = await (await openPage(browser(), await startPageService({ config }))).ready();
    await page.models.click();
    await page.button('Voice English').press('Enter');
    const more = dialog(page).getByRole('region', { name: 'More voices' });
    await textOf(more.locator('strong').first()).toBe('English voice (female, clear)');
    await page.hasFocus(search(page));
    await page.page.keyboard.type('german');
    await expect.poll(() => dialog(page).getByRole('radio').count(), patience).toBe(1);
    await textOf(more.locator('strong')).toBe('German voices (236 speakers)');
    await textOf(more).toContain('110 MB');
    expect(await faultsOf(page)).toEqual([]);
    for (let presses = 0; presses < 3; presses++) await page.page.keyboard.press('Tab'); // the voice, the details
    await page.hasFocus(page.button('Install: German voices (236 speakers)'));
    await more.locator('strong').evaluate((title: { textContent: string }) => (title.textContent = 'W'.repeat(500)));
    expect(
      await dialog(page).evaluate(
        ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) => scrollWidth - clientWidth,
      ),
    ).toBe(0);
    await search(page).fill('xyzzy');
    await textOf(dialog(page)).toContain('This model has no matching voice.');
    expect(await more.count()).toBe(0);
  });

  test('are listened to with the text that is typed', async () => {
    const page = await open();
    await page.button('Done').click();
    await page.message.fill('Good morning');
    await page.models.click();
    await page.button('Voice English').click();
    const [request] = await Promise.all([
      page.page.waitForRequest(/\/tts\/clips$/),
      page.button('Listen to English').click(),
    ]);
    expect(request.postDataJSON()).toMatchObject({ text: 'Good morning' });
    await page.page.keyboard.press('Escape');
    await page.sees({ isSounding: false });
  });
});
