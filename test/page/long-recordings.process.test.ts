/** Long recordings on the page, and recordings that were not delivered: both survive a reload. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { hookEngine, speechOf, textOf as wordsOf, wordEngine } from '../jobs/support/speech.ts';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import { faultsOf } from './axe.ts';
import {
  openPage,
  patience,
  requestsOf,
  sharedBrowser,
  sharedPage,
  startPageService,
  stored,
  storedCount,
  textOf,
  transcriptOf,
} from './support.ts';

/** More than 26,214,400 bytes: 27 minutes at 16 kHz would do. */
const words = 1_660;
const lecture = speechOf(words);

describeWith(['chromium', 'whisper-cli', 'espeak-ng'], 'a user with a long recording', () => {
  const browser = sharedBrowser();

  test('sees its progress, reloads, closes it, and saves the transcript', async () => {
    const service = await startPageService(wordEngine);
    const held = Promise.withResolvers<undefined>();
    let parts = 0;
    using _hook = hookEngine(() => (++parts === 2 ? held.promise : undefined));
    const page = await openPage(browser(), service);
    await page.upload('lecture.wav', lecture);
    const reader = page.page.getByRole('main');
    await textOf(reader).toMatch(/3\d % done/);
    await storedCount(page, 'files').toBe(1); // the last part of it that is stored
    await page.page.reload();
    await textOf(reader).toMatch(/3\d % done/);
    await textOf(reader).toContain('w4');
    await page.button('Close').click();
    const notice = page.page.locator('.notice');
    await textOf(notice).toMatch(/lecture\.wav: 3\d % done/);
    held.resolve(undefined);
    await textOf(notice).toContain('lecture.wav: Transcribed.');
    await page.button('Open lecture.wav').click();
    await transcriptOf(page).toMatch(/^w0 .* w1659$/);
    for (const [button, name] of [
      ['Text', 'lecture.txt'],
      ['SRT', 'lecture.srt'],
      ['VTT', 'lecture.vtt'],
    ] as const) {
      const [download] = await Promise.all([page.page.waitForEvent('download'), page.button(button).click()]);
      expect(download.suggestedFilename()).toBe(name);
      const text = await readFile(await download.path(), 'utf8');
      if (button === 'Text') expect(text).toBe(`${wordsOf(words)}\n`);
      if (button === 'SRT') expect(text).toContain('3\n00:00:01,100 --> 00:00:01,200\nw2\n\n');
    }
  });

  test('keeps two thirds of a phone for the conversation beside its card, an error and a long answer', async () => {
    const config = wordEngine.config.replace(' }\n', ', made-up: { use: sandbox } }\n');
    const service = await startPageService({ ...wordEngine, config });
    using _hook = hookEngine(() => Promise.withResolvers().promise);
    const phone = { isMobile: true, hasTouch: true, viewport: { width: 390, height: 844 } };
    const page = await openPage(browser(), service, { context: { ...phone, reducedMotion: 'reduce' } });
    await page.send('A long answer. '.repeat(100));
    await page.answer();
    await page.upload('lecture.wav', lecture);
    await page.button('Close').click();
    await page.button('Open lecture.wav').waitFor();
    await page.send('fail: provider-error');
    await page.answer();
    for (const shown of ['.notice', '.failure']) expect(await page.page.locator(`main ${shown}`).count()).toBe(1);
    const top = await page.page.getByRole('banner').boundingBox();
    const bottom = await page.page.locator('.bottom').boundingBox();
    expect(bottom!.y - (top!.y + top!.height)).toBeGreaterThan((2 / 3) * phone.viewport.height);
    expect(await faultsOf(page)).toEqual([]);
  });

  test('deletes it in the service, too', async () => {
    const service = await startPageService(wordEngine);
    using _hook = hookEngine(() => Promise.withResolvers().promise);
    const page = await openPage(browser(), service);
    await page.upload('lecture.wav', lecture);
    await page.button('Delete').click();
    await expect.poll(() => requestsOf(service, 'deleteTranscriptionJob')).toHaveLength(1);
    await page.message.waitFor();
    await storedCount(page, 'entries').toBe(0);
    await page.page.reload();
    await page.ready();
    expect(await page.page.getByText('lecture.wav').count()).toBe(0);
  });
});

describeWith(['chromium', 'whisper-cli', 'espeak-ng'], 'a recording that was not delivered', () => {
  const { open } = sharedPage();
  const memo = toneWav({ words: ['alpha'], rate: 16_000 });

  const failToSend = async () => {
    const page = await open();
    await page.page.context().setOffline(true);
    await page.upload('memo.wav', memo);
    await textOf(page.alert).toContain('The recording is kept');
    await page.page.context().setOffline(false);
    return page;
  };

  test('is offered again after a reload, and is gone once it is delivered', async () => {
    const page = await failToSend();
    await storedCount(page, 'recordings').toBe(1);
    await page.page.reload();
    await textOf(page.alert).toContain('This recording was not transcribed.');
    await page.ready();
    await page.button('Try again').click();
    await transcriptOf(page).toBe('alpha');
    await storedCount(page, 'recordings').toBe(0);
  });

  const noRecording = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

  test('is not kept where the service refuses it', async () => {
    const page = await open();
    await page.upload('picture.png', noRecording);
    await textOf(page.alert).toContain('recording-not-accepted');
    expect(await page.button('Try again').count()).toBe(0);
    expect(await stored(page, 'recordings', 'count()')).toBe(0);
    await page.button('Dismiss').click();
    await expect.poll(() => page.alert.count(), patience).toBe(0);
  });

  test('is kept no longer once the service refuses it, and can be saved', async () => {
    const page = await open();
    await page.page.context().setOffline(true);
    await page.upload('picture.png', noRecording);
    await storedCount(page, 'recordings').toBe(1);
    await page.page.context().setOffline(false);
    await page.button('Try again').click();
    await textOf(page.alert).toContain('The recording is kept: picture.png');
    expect(await page.button('Try again').count()).toBe(0);
    await storedCount(page, 'recordings').toBe(0);
  });

  test('is gone when the user discards it', async () => {
    const page = await failToSend();
    await storedCount(page, 'recordings').toBe(1);
    await page.button('Discard').click();
    await storedCount(page, 'recordings').toBe(0);
    await page.page.reload();
    await page.ready();
    expect(await page.alert.count()).toBe(0);
  });

  test('is not kept where the switch is off', async () => {
    const page = await open({ settings: { keepRecordings: false } });
    await page.page.context().setOffline(true);
    await page.upload('memo.wav', memo);
    await textOf(page.alert).toContain('The recording is kept');
    await page.page.context().setOffline(false);
    expect(await stored(page, 'recordings', 'count()')).toBe(0);
  });
});
