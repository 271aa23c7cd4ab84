/** The microphone: what is said is written down, corrected, sent, answered and heard. No recording is lost. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { speechSeconds, toneWav, type Speech } from '../support/tone-model.ts';
import { draftOf, openPage, programs, requestsOf, sharedBrowser, sharedService, textOf } from './support.ts';

const speech: Speech = { words: ['alpha', 'bravo', 'charlie'], rate: 48_000, tailSeconds: 0.75 };
/** Into the silence after it. */
const seconds = speechSeconds(speech) - 0.3;

describeWith(programs, 'a user who speaks', () => {
  const service = sharedService();
  const browser = sharedBrowser({ hears: toneWav(speech) });

  test('reads the words, sends them, and sees the steps of the answer', async () => {
    const page = await openPage(browser(), service());
    await page.dictate(seconds);
    await draftOf(page).toBe('alpha bravo charlie');
    await page.hasFocus(page.message);
    await page.sees({ tracks: { opened: 1, live: 0 } });

    await page.page.keyboard.press('Shift+Enter');
    await page.page.keyboard.type('think: what they may be');
    await page.page.keyboard.press('Enter');
    await textOf(page.questions).toBe('alpha bravo charlie\nthink: what they may be');
    const answer = await page.answer();
    await answer.getByText('Reasoning').click();
    await textOf(answer.locator('.reasoning')).toBe('what they may be');
    await textOf(answer.locator('.markdown')).toContain('You said: alpha bravo charlie');
    await textOf(answer.locator('> footer')).toContain('sandbox-chat');
  });

  test('sends at once, if that is wanted', async () => {
    const page = await openPage(browser(), service(), { settings: { sendAtOnce: true } });
    await page.dictate(seconds);
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: alpha bravo charlie');
    await draftOf(page).toBe('');
  });

  test('holds Space, or presses it twice', async () => {
    const page = await openPage(browser(), service());
    await page.ready();
    for (const [isHeld, words] of [
      [true, 'alpha bravo charlie'],
      [false, 'alpha bravo charlie alpha bravo charlie'],
    ] as const) {
      await page.button('Speak').focus();
      await page.page.keyboard.down(' ');
      await page.button('Stop and transcribe').waitFor();
      if (!isHeld) await page.page.keyboard.up(' ');
      await page.listened(seconds);
      if (!isHeld) await page.page.keyboard.down(' ');
      await page.page.keyboard.up(' ');
      await draftOf(page).toBe(words);
    }
  });

  test('hears a clip before it is complete, and again at a click', async () => {
    const page = await openPage(browser(), service());
    await page.send(`read aloud: ${'The quick brown fox jumps over the lazy dog. '.repeat(100)}`);
    await page.sees({ isSounding: true, isWhole: false });
    await page.answer(); // a clip goes with a run that is cancelled
    await textOf(page.answers.locator('summary')).toContain('read_aloud: ok');
    await page.page.keyboard.press('Escape');
    await page.sees({ isSounding: false });
    await page.button('Play the clip').click();
    await page.sees({ isSounding: true });
    await page.answers.getByRole('button', { name: 'Stop' }).click();
    await page.sees({ isSounding: false });
  });

  test('keeps a recording whose transcription failed: it can be tried again, and saved', async () => {
    const page = await openPage(browser(), service());
    await page.ready();
    await page.button('Speak').click();
    await page.button('Stop and transcribe').waitFor();
    await page.listened(seconds);
    await page.page.context().setOffline(true);
    await page.button('Stop and transcribe').click();
    await textOf(page.alert).toContain('The service does not answer');
    await textOf(page.alert).toContain('The recording is kept');

    const [download] = await Promise.all([page.page.waitForEvent('download'), page.button('Save').click()]);
    expect(download.suggestedFilename()).toBe('recording.webm');
    const saved = await readFile(await download.path());
    expect(saved.subarray(0, 4).toString('hex')).toBe('1a45dfa3'); // EBML, of which WebM is made

    await page.page.context().setOffline(false);
    await page.button('Try again').click();
    await draftOf(page).toBe('alpha bravo charlie');
    expect(await page.alert.count()).toBe(0);
  });

  test('is told that nothing was heard, and nothing is sent', async () => {
    const page = await openPage(browser(), service(), { settings: { sendAtOnce: true } });
    const before = requestsOf(service()).filter(({ operation }) => operation === 'streamChat').length;
    await page.upload('silence.wav', toneWav({ words: [], rate: 16_000, tailSeconds: 2 }));
    await page.page.getByText('Nothing was heard. Is the right microphone chosen').waitFor();
    await textOf(page.status).toBe('Nothing was heard.');
    expect(await page.questions.count()).toBe(0);
    expect(requestsOf(service()).filter(({ operation }) => operation === 'streamChat')).toHaveLength(before);
  });
});
