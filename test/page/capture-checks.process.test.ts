/** Why there is no microphone, and what to do about it. You can still transcribe files. */
import { describe, expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import { faultsOf } from './axe.ts';
import { draftOf, lanName, openPage, programs, sharedBrowser, sharedService, textOf, transcriptOf } from './support.ts';

const speech = toneWav({ words: ['golf', 'hotel'], rate: 16_000 });

/** `getUserMedia` fails as with real devices, which a fake one cannot. */
const refuse = (name: string) =>
  `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}'))`;

describeWith(programs, 'a user without a microphone', () => {
  const service = sharedService();
  const browser = sharedBrowser({ asks: true });

  describe('on http in the local network', () => {
    const lan = sharedService({ env: { PUBLIC_URL: `http://${lanName}`, ALLOW_OPEN: 'true' } });
    const open = () => openPage(browser(), lan(), { origin: `http://${lanName}:${new URL(lan().url).port}` });

    test('is told before a click that the address is the reason', async () => {
      const page = await open();
      await page.ready();
      const notice = page.page.locator('.notice');
      await textOf(notice).toMatch(/“Speak” and “Hands-free” do not work: browsers allow it only over https/);
      await notice.getByText('What to do').press('Enter');
      const remedy = notice.getByText('ssh');
      await remedy.waitFor();
      await textOf(remedy).toMatch(/open http:\/\/localhost:\d+.*ssh -L \d+:127\.0\.0\.1:\d+ lan\.test.*PUBLIC_URL/);
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.button('Speak').isDisabled()).toBe(true);
      expect(await page.button('Hands-free').isDisabled()).toBe(true);
    });

    test('is told which files can be chosen and dropped instead', async () => {
      const page = await open();
      await page.ready();
      const accepted = /Audio or video, such as mp3.*Over 10 minutes or 25 MB.*up to 4 hours and 500 MB\./;
      expect(await page.button('File').getAttribute('title')).toMatch(accepted);
      await page.page.evaluate('document.body.dispatchEvent(new DragEvent("dragover", { bubbles: true }))');
      await textOf(page.page.locator('.drop')).toMatch(accepted);
      expect(await faultsOf(page)).toEqual([]);
    });

    test('gets files transcribed that are chosen, dropped or pasted', async () => {
      const page = await open();
      await page.upload('memo.wav', speech);
      for (const take of [() => page.drop('memo.wav', speech), () => page.paste('memo.wav', speech)]) {
        await transcriptOf(page).toBe('golf hotel');
        await page.button('Close').click();
        await take();
      }
      await transcriptOf(page).toBe('golf hotel');
    });
  });

  test('is told that it is missing, and tries again', async () => {
    const script = refuse('NotFoundError');
    const page = await openPage(browser(), service(), { script });
    await page.ready();
    await page.button('Speak').click();
    await textOf(page.alert).toContain('No microphone was found. Connect one');
    await page.page.evaluate('delete navigator.mediaDevices.getUserMedia');
    await page.button('Try again').click();
    await page.button('Stop and transcribe').waitFor();
    expect(await page.alert.count()).toBe(0);
  });

  test('is told that this browser cannot record', async () => {
    const page = await openPage(browser(), service(), { script: 'delete globalThis.MediaRecorder' });
    await page.ready();
    await page.page.getByText('This browser cannot record. You can still transcribe files.').waitFor();
    expect(await page.button('Speak').isDisabled()).toBe(true);
    await page.upload('memo.wav', speech);
    await transcriptOf(page).toBe('golf hotel');
  });

  test('is told that it was disconnected; what was recorded is transcribed', async () => {
    const script = `{
      const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (constraints) => {
        const stream = await open(constraints);
        window.unplug = () => stream.getTracks()[0].dispatchEvent(new Event('ended'));
        return stream;
      };
    }`;
    const page = await openPage(browser(), service(), { script });
    await page.ready();
    await page.button('Speak').click();
    await page.button('Stop and transcribe').waitFor();
    await page.page.evaluate('unplug()');
    await textOf(page.alert).toContain('The microphone was disconnected');
    await page.page.getByText('No speech was detected.', { exact: false }).first().waitFor();
    await page.sees({ tracks: { opened: 1, live: 0 } });
  });

  test.each([
    ['Speak', 'Speak'],
    ['Hands-free', 'End'],
  ])('is told where to allow it (%s)', async (name, other) => {
    const page = await openPage(browser(), service(), { context: { permissions: [] } });
    await page.ready();
    await page.button(name).click();
    await textOf(page.alert).toContain('The microphone is blocked for this page. Allow it in the address bar');
    expect(await page.button('Try again').isEnabled()).toBe(true);
    expect(await page.button(other).isEnabled()).toBe(true);
  });

  test('can type at once after dismissing the notice', async () => {
    const page = await openPage(browser(), service(), { script: refuse('NotFoundError') });
    await page.ready();
    await page.button('Speak').click();
    await page.button('Dismiss').focus();
    await page.page.keyboard.press('Enter');
    await page.alert.waitFor({ state: 'detached' });
    await page.page.keyboard.type('hello');
    await draftOf(page).toBe('hello');
  });
});
