/** Who spoke: distinguished by handmade models or by channel, named, kept and downloaded. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingOf, startRecognizers, type StartOptions } from '../engines/sherpa-stt/support.ts';
import { describeWith } from '../support/programs.ts';
import { conversation, writeSpeakerModels } from '../support/speaker-models.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { faultsOf } from './axe.ts';
import {
  draftOf,
  lasting,
  openPage,
  patience,
  promptUser,
  requestsOf,
  sharedBrowser,
  spoken,
  storedContents,
  textOf,
  transcriptOf,
  withoutSocket,
  type OpenOptions,
  type UserPage,
} from './support.ts';

const { samples } = conversation([
  { speaker: 0, words: ['alpha', 'bravo', 'kilo', 'alpha'] },
  { speaker: 1, words: ['golf', 'hotel', 'golf', 'hotel'] },
  { speaker: 0, words: ['kilo', 'delta', 'alpha', 'kilo'] },
]);
const call = recordingOf(samples);
const text = ['alpha bravo kilo alpha', 'golf hotel golf hotel', 'kilo delta alpha kilo'] as const;
const words = text.join(' ');

const [hostile, shown] = ['<img src=x onerror=hacked=1> & Co', '&lt;img src=x onerror=hacked=1&gt; &amp; Co'];

describeWith(['chromium'], 'a user who wants to know who spoke', () => {
  const browser = sharedBrowser();

  const open = async (options: OpenOptions = {}, start: StartOptions = {}) => {
    const { service } = await startRecognizers({ models: { words: { code: 'words' } }, ...start });
    return { service, page: await (await openPage(browser(), service, options)).ready() };
  };
  const withModels = async () => {
    const folder = await writeSpeakerModels(join(await temporaryDirectory(), 'speakers'));
    return { options: { speakers: { folder, threshold: 0.5 } } };
  };

  const mode = ({ page }: UserPage) => page.getByLabel('Speakers in files');
  const chooseMode = async (page: UserPage, name: string) => {
    await page.models.click();
    await mode(page).selectOption(name);
    await page.button('Done').click();
  };
  const names = ({ page }: UserPage) => textOf(page.locator('.segment > .name'));
  const rename = async ({ page }: UserPage, name: string) => {
    const dialog = page.getByRole('dialog', { name: 'Name of the speaker' });
    await dialog.getByRole('textbox').fill(name);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
  };
  const saved = async (page: UserPage, name: string) => {
    const [download] = await Promise.all([page.page.waitForEvent('download'), page.button(name).click()]);
    return readFile(await download.path(), 'utf8');
  };

  test('chooses it once, and names the speakers, who are kept and saved with their names', async () => {
    const { page, service } = await open({}, await withModels());
    await page.models.click();
    await mode(page).selectOption('By voice');
    await page.page.getByLabel('Number of speakers').selectOption('2');
    expect(await faultsOf(page)).toEqual([]);
    await page.button('Done').click();
    await page.page.reload();
    await page.upload('call.wav', call);
    await names(page).toBe('A\nB\nA');
    await transcriptOf(page).toBe(words);
    await expect.poll(() => requestsOf(service, 'streamTranscription'), patience).toHaveLength(1);
    const people = page.page.getByRole('group', { name: /^Speakers/ });
    await textOf(people).toMatch(/^A 0:0\dB 0:0\d$/);
    expect(await faultsOf(page)).toEqual([]);

    const second = people.getByRole('button', { name: /0:0\d$/ }).last();
    await second.press('Enter');
    expect(await faultsOf(page)).toEqual([]);
    await rename(page, hostile);
    await page.hasFocus(second);
    await page.page.locator('.segment > .name').first().click();
    await rename(page, 'Ada');
    await names(page).toBe(`Ada\n${hostile}\nAda`);
    await storedContents(page).toContain('"name":"Ada"');

    await page.page.reload();
    await names(page).toBe(`Ada\n${hostile}\nAda`);
    expect(await saved(page, 'Text')).toBe(`Ada: ${text[0]}\n${hostile}: ${text[1]}\nAda: ${text[2]}\n`);
    expect(await saved(page, 'SRT')).toContain(`\n${hostile}: ${text[1]}\n`);
    expect(await saved(page, 'VTT')).toContain(`\n<v ${shown}>${text[1]}\n`);
    expect(await page.page.evaluate('window.hacked')).toBeUndefined();

    await second.click();
    await rename(page, '');
    await names(page).toBe('Ada\nB\nAda');
  });

  test('has a place for a long name on a small screen in the dark', async () => {
    const context = { viewport: { width: 320, height: 640 }, colorScheme: 'dark' } as const;
    const { page } = await open({ context, settings: { speakers: 'voice' } }, await withModels());
    await page.upload('call.wav', call);
    await page.page.locator('.segment > .name').last().click();
    await rename(page, 'W'.repeat(60));
    await names(page).toContain('W'.repeat(60));
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('gets it for a long recording, too', async () => {
    const script = `Object.defineProperty(HTMLMediaElement.prototype, 'duration', { get: () => 601 });`;
    const others = { 'made-up': { use: 'sandbox' } };
    const { page, service } = await open(
      { script: script + lasting(3_000), settings: { speakers: 'voice' } }, // in which the page reads the length
      { ...(await withModels()), others },
    );
    await page.upload('call.wav', call);
    await names(page).toBe('A\nB\nA');
    expect(requestsOf(service, 'createTranscriptionJob')).toHaveLength(1);
    await page.button('Ask about this').click();
    await page.send('Who spoke?');
    await textOf(page.page.locator('.quoted pre')).toBe(`A: ${text[0]}\nB: ${text[1]}\nA: ${text[2]}`);
  });

  test('is told why a recording has no channels to distinguish, and gets it without', async () => {
    const { page } = await open();
    await chooseMode(page, 'By channel (phone calls in stereo)');
    await page.upload('call.wav', call);
    await textOf(page.alert).toMatch(
      /one channel.* Choose another way to distinguish speakers, or none, under “Models”\./,
    );
    await chooseMode(page, 'Not distinguished');
    await page.button('Try again').click();
    await transcriptOf(page).toBe(words);
    expect(await page.page.locator('.name').count()).toBe(0);
  });

  test('dictates as before: a microphone has no channels to distinguish', async () => {
    const script = promptUser(call) + withoutSocket;
    const { page } = await open({ script, settings: { speakers: 'channel' }, isAlone: true });
    await page.button('Speak').click();
    await spoken(page);
    await page.button('Stop and transcribe').click();
    await draftOf(page).toMatch(/alpha/);
    expect(await page.alert.count()).toBe(0);
  });

  test('is offered the models where they are missing, with their license', async () => {
    const { page } = await open({ settings: { speakers: 'voice' } });
    await page.models.click();
    await textOf(page.page.locator('#speakers-note')).toContain('cannot distinguish speakers by voice');
    expect(await mode(page).getByRole('option', { name: 'By voice' }).count()).toBe(0);
    await page.page.getByText('Details of Speakers (who spoke)').click();
    await textOf(page.page.locator('.offer')).toMatch(/License: .*CC-BY-4\.0/);
    expect(await faultsOf(page)).toEqual([]);
  });
});
