/** The microphone: what is said is written down, corrected, sent, answered and read aloud. No recording is lost. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { speechSeconds, tonePcm, toneWav, wav, type Speech } from '../support/tone-model.ts';
import {
  draftOf,
  drawnTextOf,
  patience,
  programs,
  promptUser,
  requestsOf,
  sharedPage,
  slowPlayback,
  spoken,
  textOf,
  withoutSocket,
  type UserPage,
} from './support.ts';

const text = 'alpha bravo';
const speech: Speech = { words: ['alpha', 'bravo'], rate: 16_000, tailSeconds: 0.2 };
const recording = toneWav(speech);

/** The device plays from its opening on, and the recorder begins 50 to 200 ms later. */
const deviceLeadSeconds = 0.1;
const lead = new Int16Array(deviceLeadSeconds * speech.rate);
const deviceRecording = wav(Int16Array.from([...lead, ...tonePcm(speech)]), { rate: speech.rate, channels: 1 });

/** Sets `isLoud` once the meter shows more than its least height. */
const meterWatcher = `addEventListener('DOMContentLoaded', () => {
  new MutationObserver((changes) => {
    const heights = changes.map(({ target }) => target.closest('.meter i:nth-child(3)')?.style.transform);
    window.isLoud ||= heights.some((height) => height !== undefined && height !== 'scaleY(0.12)');
  }).observe(document.body, { subtree: true, attributeFilter: ['style'] });
})`;

/** Presses Space for a moment, however long a busy machine takes: by the times of the two events. */
async function tapSpace({ page }: UserPage): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const key = { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, timestamp: Date.now() / 1_000 };
  await session.send('Input.dispatchKeyEvent', { type: 'keyDown', text: ' ', ...key });
  await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  await session.detach();
}

describeWith(programs, 'a user who speaks', () => {
  const { service, open } = sharedPage({ sound: deviceRecording });
  // The model wants each word in its half of a second, which the pauses of a live transcription move.
  const openPrompt = (settings = {}) => open({ settings, script: withoutSocket + promptUser(recording) });

  test('sees the level of the microphone, and reads the words that it plays', async () => {
    const page = await open({ script: withoutSocket + meterWatcher });
    const take = async () => {
      await page.message.fill('');
      await page.page.evaluate('window.isLoud = false');
      await page.button('Speak').click();
      await expect.poll(() => page.page.evaluate('isLoud'), patience).toBe(true);
      await page.listened(deviceLeadSeconds + speechSeconds(speech));
      await page.button('Stop and transcribe').click();
      await textOf(page.status).toMatch(/^(Transcript|No speech was detected)/);
      return page.message.inputValue();
    };
    // On a busy machine, the recorder may begin too late for the model: then the user says it again.
    await expect.poll(take, { timeout: 50_000 }).toBe(text);
    await page.hasFocus(page.message);
    const { tracks } = await page.observed();
    expect(tracks).toEqual({ opened: tracks.opened, live: 0 });
  });

  test('reads the words, sends them, and sees the steps of the answer', async () => {
    const page = await openPrompt();
    await page.button('Speak').click();
    await spoken(page);
    await page.button('Stop and transcribe').click();
    await draftOf(page).toBe(text);
    await page.hasFocus(page.message);

    await page.page.keyboard.press('Shift+Enter');
    await page.page.keyboard.type('think: what they may be');
    await page.page.keyboard.press('Enter');
    await drawnTextOf(page.questions).toBe('alpha bravo\nthink: what they may be');
    const answer = await page.answer();
    await answer.getByText('Reasoning').click();
    await textOf(answer.locator('.reasoning')).toBe('what they may be');
    await textOf(answer.locator('.markdown')).toContain('You said: alpha bravo');
    await textOf(answer.locator('> footer')).toContain('sandbox-chat');
  });

  test('is asked for the microphone one question at a time', async () => {
    const script = `{
      const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      window.questions = [];
      navigator.mediaDevices.getUserMedia = (constraints) =>
        new Promise((resolve) => questions.push(() => resolve(open(constraints))));
    }`;
    const page = await open({ script });
    const asked = () => page.page.evaluate('questions.length');
    await page.button('Speak').click();
    await expect.poll(asked, patience).toBe(1);
    await page.page.keyboard.press('Escape');
    await page.button('Speak').click();
    await textOf(page.hint).toContain('Allow the microphone');
    expect(await asked()).toBe(1);
    await page.page.evaluate('questions[0]()');
    await expect.poll(asked, patience).toBe(2);
    await page.page.evaluate('questions[1]()');
    await page.button('Stop and transcribe').waitFor();
    await page.sees({ tracks: { opened: 2, live: 1 } });
  });

  test('holds Space', async () => {
    const page = await openPrompt();
    await page.button('Speak').focus();
    await page.page.keyboard.down(' ');
    await spoken(page);
    await page.page.keyboard.up(' ');
    await draftOf(page).toBe(text);
  });

  test('presses Space twice, and sends at once, if that is wanted', async () => {
    const page = await openPrompt({ sendAtOnce: true });
    await page.button('Speak').focus();
    await tapSpace(page);
    await spoken(page);
    await page.button('Stop and transcribe').focus();
    await tapSpace(page);
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: alpha bravo');
    await draftOf(page).toBe('');
  });

  test('hears a clip before it is complete, and again at a click', async () => {
    const page = await open();
    await page.send(`read aloud: ${'The quick brown fox jumps over the lazy dog. '.repeat(100)}`);
    await page.sees({ isSounding: true, isWhole: false });
    await page.answer(); // a clip goes with a run that is canceled
    await textOf(page.answers.locator('summary')).toContain('read_aloud: ok');
    await page.page.keyboard.press('Escape');
    await page.sees({ isSounding: false });
    await page.button('Play the clip').click();
    await page.sees({ isSounding: true });
    await page.answers.getByRole('button', { name: 'Stop' }).click();
    await page.sees({ isSounding: false });
  });

  test('taps first where the browser plays no sound without: nothing is tried again before', async () => {
    const script = `{
      const { play } = HTMLMediaElement.prototype;
      window.refusals = 0;
      HTMLMediaElement.prototype.play = function () {
        if (window.isTapped) return play.call(this);
        refusals++;
        return Promise.reject(new DOMException('', 'NotAllowedError'));
      };
    }`;
    const page = await open({ script: script + slowPlayback });
    await page.send('read aloud: Good morning');
    const notice = page.page.getByText('The browser blocked the sound');
    await notice.waitFor();
    await page.answer();
    expect(await page.page.evaluate('refusals')).toBe(3); // the silence of both players in the click, and the clip
    await page.page.evaluate('isTapped = true');
    await page.message.click();
    await page.sees({ isSounding: true });
    expect(await notice.count()).toBe(0);
  });

  test('keeps a recording whose transcription failed: it can be tried again, and saved', async () => {
    const page = await openPrompt();
    await page.button('Speak').click();
    await spoken(page);
    await page.page.context().setOffline(true);
    await page.button('Stop and transcribe').click();
    await textOf(page.alert).toContain('The service is not responding');
    await textOf(page.alert).toContain('The recording is kept');

    const [download] = await Promise.all([
      page.page.waitForEvent('download'),
      page.alert.getByRole('button', { name: 'Save' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('recording.webm');
    const saved = await readFile(await download.path());
    expect(saved.subarray(0, 4).toString('hex')).toBe('1a45dfa3'); // EBML, of which WebM is made

    await page.page.context().setOffline(false);
    await page.button('Try again').click();
    await draftOf(page).toBe(text);
    expect(await page.alert.count()).toBe(0);
  });

  test('is told that nothing was recognized, and nothing is sent', async () => {
    const page = await open({ settings: { sendAtOnce: true } });
    const before = requestsOf(service(), 'streamChat').length;
    await page.upload('silence.wav', toneWav({ words: [], rate: 16_000, tailSeconds: 2 }));
    await page.page.getByText('No speech was detected. Check that the right microphone').waitFor();
    await textOf(page.status).toBe('No speech was detected.');
    expect(await page.questions.count()).toBe(0);
    expect(requestsOf(service(), 'streamChat')).toHaveLength(before);
  });
});
