/** The language, the translation and the keywords of recordings: chosen once, and sent with each of them. */
import { expect, test } from 'vitest';
import { hookEngine, speechOf, wordEngine, type EngineCall } from '../jobs/support/speech.ts';
import { describeWith } from '../support/programs.ts';
import { tonePcm, wav } from '../support/tone-model.ts';
import {
  transcriptOf,
  openPage,
  programs,
  sharedBrowser,
  sharedService,
  textOf,
  type OpenOptions,
  type UserPage,
} from './support.ts';

/** `words` does not list its languages, the sandbox has four. */
const config = wordEngine.config.replace(' }\n', ', made-up: { use: sandbox } }');

const rate = 16_000;
const turn = [...tonePcm({ words: ['alpha'], rate, tailSeconds: 1.5 })];
/** Turns with pauses: a busy machine may miss the first ones. */
const turns = wav(Int16Array.from(Array.from({ length: 10 }, () => turn).flat()), { rate, channels: 1 });

const memo = speechOf(2);
/** More than ten minutes. */
const lecture = speechOf(1_210);

const ways: Readonly<Record<string, (page: UserPage) => Promise<unknown>>> = {
  'a file': (page) => page.upload('memo.wav', memo),
  'what is dictated': async (page) => {
    await page.button('Speak').click();
    await page.listened(1);
    await page.button('Stop and transcribe').click();
  },
  'what is said hands-free': (page) => page.button('Hands-free').click(),
  'a long recording': (page) => page.upload('lecture.wav', lecture),
};

describeWith(programs, 'the language, translation and keywords', () => {
  const service = sharedService({ ...wordEngine, config });
  const browser = sharedBrowser({ sound: turns });
  const open = async (options: OpenOptions = {}) => (await openPage(browser(), service(), options)).ready();
  const language = ({ page }: UserPage) => page.getByLabel('Language of recordings');

  test.each(Object.entries(ways))('go with %s', async (_what, record) => {
    const call = Promise.withResolvers<EngineCall>();
    using _hook = hookEngine((received) => call.resolve(received));
    const page = await open({ settings: { language: 'de', translate: true, keywords: 'Ada Lovelace, Parlance,' } });
    await record(page);
    expect(await call.promise).toMatchObject({
      ...{ language: 'de', translate: true },
      keywords: ['Ada Lovelace', 'Parlance'],
    });
  });

  test('are automatic and off until they are chosen, by the keyboard alone, and kept', async () => {
    const page = await open();
    const { keyboard } = page.page;
    const translate = page.page.getByLabel('Translate into English');
    const keywords = page.page.getByLabel('Names and terms');
    await page.models.press('Enter');
    await page.hasFocus(page.picker('Chat'));
    expect(await language(page).inputValue()).toBe('');
    expect(await translate.isChecked()).toBe(false);
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    await page.hasFocus(language(page));
    await keyboard.press('ArrowDown');
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await keyboard.press('Tab');
    await keyboard.type('Ada');
    await keyboard.press('Escape');
    await page.hasFocus(page.models);

    await page.page.reload();
    await page.ready();
    await page.models.click();
    expect(await language(page).inputValue()).toBe('en');
    expect(await translate.isChecked()).toBe(true);
    expect(await keywords.inputValue()).toBe('Ada');
  });

  test('of a model that does not know the language: the choice says so, and the recording is transcribed', async () => {
    const page = await open({ settings: { language: 'ja' } });
    await page.models.click();
    await textOf(page.page.locator('#language-note')).toBe('');
    await page.picker('Transcription').selectOption('sandbox-transcribe');
    await textOf(page.page.locator('#language-note')).toContain('This model does not support Japanese.');
    expect(await language(page).locator('option').allTextContents()).toEqual([
      ...['Automatic', 'Japanese', 'English', 'French', 'German', 'Spanish'],
    ]);
    await page.button('Done').click();
    await page.upload('memo.wav', memo);
    await transcriptOf(page).toBe('The sandbox has heard a recording.');
  });
});
