/**
 * What the user waits for: the page, the first sound, and the end of everything after Escape, where the service stops
 * working, too.
 */
import { describe, expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { waitedMs } from '../support/stopwatch.ts';
import { toneWav } from '../support/tone-model.ts';
import { usableWatcher } from './observer.ts';
import { patience, programs, requestsOf, sharedPage, textOf, type UserPage } from './support.ts';

/** Cancellation keeps its limit; the others are ten times the goals of `npm run bench -- page speech`. */
const limitsMs = { stop: 250, firstSound: 3_000, usable: 3_000 } as const;
const speech = toneWav({ words: ['alpha', 'bravo'], rate: 16_000 });

/** The user is asked for the microphone, and answers when `answerQuestion` is called. */
const slowUser = `{
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (constraints) => new Promise((resolve) => {
    window.answerQuestion = () => resolve(open(constraints));
  });
}`;

describeWith(programs, 'the page', () => {
  const { service, browser, open } = sharedPage();

  describe('after Escape', () => {
    /** Without the time in which other programs had the processor. */
    async function stop(page: UserPage): Promise<void> {
      const session = await browser().newBrowserCDPSession();
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      const waited = () => processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => waitedMs(id));
      const before = waited();
      await page.page.keyboard.press('Escape');
      await expect.poll(async () => (await page.observed()).stoppedAfterMs, patience).not.toBeNull();
      const { stoppedAfterMs } = await page.observed();
      const elsewhere = Math.max(...waited().map((ms, index) => ms - before[index]!));
      if (process.env.PAGE_TIMES) console.log(expect.getState().currentTestName, stoppedAfterMs, elsewhere);
      expect(stoppedAfterMs! - elsewhere).toBeLessThan(limitsMs.stop);
      await textOf(page.status).toBe('Stopped.');
      await page.sees({ isSounding: false, tracks: { opened: (await page.observed()).tracks.opened, live: 0 } });
    }

    /** The service has noticed that the caller is gone. */
    const logged499 = (operation: RegExp) =>
      expect
        .poll(
          () =>
            requestsOf(service()).filter(({ status, operation: one }) => status === 499 && operation.test(String(one))),
          patience,
        )
        .not.toEqual([]);

    test('while the user is asked: a late permission opens nothing', async () => {
      const page = await open({ script: slowUser });
      await page.button('Speak').click();
      await page.page.getByText(/^Allow the microphone/).waitFor();
      await stop(page);
      await page.page.evaluate('answerQuestion()');
      await page.sees({ tracks: { opened: 1, live: 0 } });
      expect(await page.button('Speak').isEnabled()).toBe(true);
    });

    test('while it records: the recording is dropped', async () => {
      const page = await open();
      const before = requestsOf(service(), 'streamTranscription').length;
      await page.button('Speak').click();
      await page.button('Stop and transcribe').waitFor();
      await stop(page);
      await page.button('Speak').waitFor();
      expect(requestsOf(service(), 'streamTranscription')).toHaveLength(before);
    });

    test('while it transcribes', async () => {
      const page = await open();
      await page.choose('Transcription', 'sandbox-transcribe-slow');
      await page.upload('memo.wav', speech);
      await page.page.locator('.growing').waitFor(); // the first segment
      await stop(page);
      await logged499(/Transcription/);
      expect(await page.message.inputValue()).toBe('');
    });

    test('while it answers: what has come stays', async () => {
      const page = await open();
      await page.choose('Chat', 'sandbox-chat-slow');
      await page.send('one two three four five six seven eight nine ten');
      await textOf(page.answers.locator('.markdown')).toContain('You');
      await stop(page);
      await logged499(/streamChat/);
      const answer = await page.answer();
      await textOf(answer).toContain('Stopped.');
      await textOf(answer.locator('.markdown')).toContain('You');
    });

    test('while it speaks: the clip is deleted', async () => {
      const page = await open();
      await page.send('The quick brown fox jumps over the lazy dog. '.repeat(4));
      const [clip] = await Promise.all([page.page.waitForRequest(/\/clips\/./), page.button('Read aloud').click()]);
      await page.sees({ isSounding: true });
      await stop(page);
      await expect
        .poll(() => requestsOf(service(), 'deleteSpeechClip'), patience)
        .toContainEqual(expect.objectContaining({ status: 204 }));
      expect((await fetch(clip.url())).status).toBe(404);
    });

    test('in hands-free: nothing listens', async () => {
      const page = await open();
      await page.button('Hands-free').click();
      await page.sees({ tracks: { opened: 1, live: 1 } });
      await stop(page);
      await page.sees({ tracks: { opened: 1, live: 0 } });
    });
  });

  test('is usable soon after its first byte', async () => {
    const { page } = await open({ script: usableWatcher, isAlone: true });
    await expect.poll(() => page.evaluate('window.usableAt'), patience).toBeGreaterThan(0);
    const ms = await page.evaluate<number>(`usableAt - performance.getEntriesByType('navigation')[0].responseStart`);
    if (process.env.PAGE_TIMES) console.log('usable', ms);
    expect(ms).toBeLessThan(limitsMs.usable);
  });

  test('sounds soon after the click that reads an answer aloud', async () => {
    const page = await open();
    await page.send('The quick brown fox jumps over the lazy dog. '.repeat(20));
    await page.button('Read aloud').click();
    await expect.poll(async () => (await page.observed()).soundedAfterMs, patience).not.toBeNull();
    const { soundedAfterMs: ms } = await page.observed();
    if (process.env.PAGE_TIMES) console.log('first sound', ms);
    expect(ms).toBeLessThan(limitsMs.firstSound);
  });
});
