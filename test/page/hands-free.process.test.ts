/** A conversation without hands. */
import type { Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { chunk, stallsAfter } from '../engines/llm-agent/support.ts';
import { describeWith } from '../support/programs.ts';
import { startProvider } from '../support/provider.ts';
import { tonePcm, wav } from '../support/tone-model.ts';
import {
  openPage,
  programs,
  sharedBrowser,
  sharedService,
  slowPlayback,
  startPageService,
  textOf,
  type UserPage,
} from './support.ts';

const rate = 16_000;

/** A room that is never quite silent. */
function room(seconds: number): Int16Array {
  let seed = 1;
  return Int16Array.from({ length: Math.round(seconds * rate) }, () => {
    seed = (seed * 48_271) % 0x7fffffff;
    return (seed % 41) - 20;
  });
}

/** Without the silent slot at the begin: the page adds as much of the room. */
const words = tonePcm({ words: ['alpha'], rate, tailSeconds: 0 }).subarray(rate / 2);
const click = Int16Array.from({ length: 0.06 * rate }, (_, at) => 9_000 * Math.sin(at));

const parts = [room(0.2), click, room(0.6), words, room(0.1)];
const samples = Int16Array.from(parts.flatMap((part) => [...part]));
const milliseconds = (samples.length / rate) * 1_000;

/**
 * The user says the same whenever `speak` is called: Chromium's fake microphone begins its recording anew with each
 * `getUserMedia`. What takes its time, such as the transcription, is never spoken over.
 */
const patientUser = `{
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const context = new AudioContext();
    const microphone = context.createMediaStreamDestination();
    window.speak = async () => {
      const voice = await open(constraints);
      const source = context.createMediaStreamSource(voice);
      source.connect(microphone);
      await new Promise((resolve) => setTimeout(resolve, ${milliseconds}));
      source.disconnect();
      voice.getTracks()[0].stop();
    };
    window.unplug = () => microphone.stream.getTracks()[0].dispatchEvent(new Event('ended'));
    return microphone.stream;
  };
}`;

/** The recording of the fake microphone is not heard. */
const silentUser = `{
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const stream = await open(constraints);
    stream.getTracks()[0].enabled = false;
    return stream;
  };
}`;

/** Chromium's own microphones cancel echoes; the one of the patient user has to say so. */
const withoutEcho = `MediaStreamTrack.prototype.getSettings = () => ({ echoCancellation: true });`;

/** For a route: the service answers each recording with this transcript. */
const understands = (text: string) => (route: Route) => {
  const event = { type: 'transcription.completed', seq: 0, result: { text } };
  return route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(event)}\n\n` });
};

const listening = 'Say something.';
const paused = 'The microphone is paused. To interrupt, press Space.';
const open = 'To interrupt, speak or press Space.';

describeWith(programs, 'hands-free', () => {
  const service = sharedService();
  const browser = sharedBrowser({ sound: wav(samples, { rate, channels: 1 }) });

  async function start(settings: object, script = patientUser, at = service()): Promise<UserPage> {
    const page = await openPage(browser(), at, { settings: { pauseMs: 500, ...settings }, script });
    await page.ready();
    await page.button('Hands-free').click();
    await state(page).toBe('Listening');
    return page;
  }

  const state = ({ page }: UserPage) => textOf(page.locator('.state'));
  const help = ({ page }: UserPage) => textOf(page.locator('.help'));
  const speak = ({ page }: UserPage) => page.evaluate('speak()');

  /** A busy machine tears holes into the sound: who is not understood says it again. Resolves with how often it was said. */
  async function say(page: UserPage): Promise<number> {
    const before = await page.questions.count();
    for (let takes = 1; takes <= 5; takes++) {
      await speak(page);
      await help(page).toMatch(/^(Say something|The microphone|To interrupt)/);
      if ((await page.questions.count()) > before) return takes;
    }
    throw new Error('The page has not understood a word.');
  }

  const transcriptions = async (page: UserPage) =>
    (await page.observed()).announcements.filter((text) => text === 'Transcribing.').length;

  test('sends each turn and no click, listens again after the answer, and transcribes nothing while muted', async () => {
    const page = await start({ readAloud: false });
    const takes = (await say(page)) + (await say(page));
    await textOf(page.answers.locator('.markdown')).toBe('You said: alpha\nYou said: alpha');
    expect(await page.page.locator('.heard, .said').allTextContents()).toEqual(['alpha', 'You said: alpha']);
    expect(await transcriptions(page)).toBe(takes);

    await page.button('Mute').click();
    await speak(page);
    await state(page).toBe('Muted');
    expect(await page.questions.count()).toBe(2);
    await page.button('Mute').click();
    await state(page).toBe('Listening');
    expect(await transcriptions(page)).toBe(takes);
  });

  test('continues in a tab that is not in front', async () => {
    const page = await start({ readAloud: false });
    await page.page.evaluate(`{
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
    await say(page);
    await page.page.evaluate(`{
      delete document.visibilityState;
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
    await textOf(page.answers.locator('.markdown')).toBe('You said: alpha');
    await page.page.keyboard.press('Escape');
    await page.sees({ wakeLocks: { asked: 1, held: 0 } });
  });

  test('pauses the microphone while it speaks, unless the browser cancels the echo; the button interrupts', async () => {
    const page = await start({}, patientUser + slowPlayback);
    await say(page);
    await help(page).toBe(paused);
    await state(page).toBe('Speaking');
    await speak(page);
    await help(page).toBe(paused);
    expect(await page.questions.allTextContents()).toEqual(['alpha']);
    await page.button('Interrupt').click();
    await help(page).toBe(listening);
    await page.sees({ isSounding: false });
  });

  test('is interrupted by a key while the answer is being written', async () => {
    const page = await start({ chatModel: 'sandbox-chat-slow' });
    await page.sendBehind('word '.repeat(60));
    await textOf(page.page.locator('.said')).toContain('You');
    await state(page).toBe('Thinking');
    await page.page.keyboard.press('Enter');
    await help(page).toBe(listening);
    await textOf(page.answers).toContain('Stopped.');
    await textOf(page.page.locator('.hands-free').getByRole('status')).toBe('Listening.');
  });

  /** Its answer stalls in the middle of a word. */
  async function startStalling() {
    const provider = await startProvider();
    provider.behave(stallsAfter(chunk({ content: 'This is the first sentence. It' })));
    const config = `engines:
  whisper: { use: whisper-cli, models: [{ id: tones, file: '\${WHISPER_MODEL}' }] }
  mind: { use: llm-agent, baseUrl: '${provider.baseUrl}', local: true, models: [scripted] }
  espeak: { use: espeak }`;
    return { provider, service: await startPageService({ config }) };
  }

  test('thinks again when an answer stalls after what was said', async () => {
    const { service } = await startStalling();
    const page = await start({ readAloud: true }, patientUser, service);
    const isPlayed = page.page.waitForRequest((request) => request.method() === 'DELETE');
    await page.sendBehind('Go on.');
    await isPlayed;
    await state(page).toBe('Thinking');
  });

  test('is interrupted by a voice while the answer is still being written and already sounds', async () => {
    const { provider, service } = await startStalling();
    const page = await start({}, patientUser + slowPlayback + withoutEcho, service);
    await say(page);
    await help(page).toBe(open);
    expect(await page.answers.getAttribute('aria-busy')).toBe('true');
    await say(page);
    await textOf(page.questions).toBe('alpha\nalpha');
    await textOf(page.answers.first()).toContain('Stopped.');
    await provider.calls[0]!.gone;
  });

  test('does not answer its own voice, and pauses the microphone from then on', async () => {
    const page = await start({}, patientUser + slowPlayback + withoutEcho);
    const said = 'The quick brown fox jumps over the lazy dog';
    await page.page.route('**/transcribe/stream', understands(said));
    await speak(page);
    await help(page).toBe(open);
    await speak(page);
    await help(page).toBe(listening);
    expect(await page.questions.allTextContents()).toEqual([said]);
    await speak(page);
    await help(page).toMatch(/^The microphone hears the answer, and is paused/);
  });

  test('offers to send again what was not transcribed, and answers it', async () => {
    const page = await start({ readAloud: false });
    await page.page.route('**/transcribe/stream', understands('Good morning'));
    await page.page.route('**/transcribe/stream', (route) => route.abort(), { times: 1 });
    await speak(page);
    await textOf(page.alert).toContain('The service is not responding');
    await page.button('Try again').click();
    await textOf(page.answers.locator('.markdown')).toBe('You said: Good morning');
    await help(page).toBe(listening);
  });

  test('answers what was said until the microphone was disconnected, and tries again', async () => {
    const page = await start({ readAloud: false, pauseMs: 3_000 }); // it has not been sent when the microphone goes
    const speaking = speak(page);
    await help(page).toBe('Pause to send.');
    await page.page.evaluate('unplug()');
    await state(page).toBe('No microphone');
    await textOf(page.alert).toContain('The microphone was disconnected');
    await speaking;
    expect(await transcriptions(page)).toBe(1);
    await page.button('Try again').click();
    await state(page).toBe('Listening');
    expect(await page.alert.count()).toBe(0);
  });

  test('keeps the screen on, and releases it and the microphone at the end', async () => {
    const page = await start({}, silentUser);
    await page.sees({ wakeLocks: { asked: 1, held: 1 }, tracks: { opened: 1, live: 1 } });
    await page.button('End').click();
    await page.sees({ wakeLocks: { asked: 1, held: 0 }, tracks: { opened: 1, live: 0 } });
    await page.button('Speak').waitFor();
  });

  test('takes no file, since the transcript would be out of sight, and says so', async () => {
    const page = await start({}, silentUser);
    await page.drop('memo.wav', Buffer.from('no recording'));
    await page.button('End').click();
    await page.sees({ announcements: ['Listening.', 'Cancel what is running first (Esc).', 'Stopped.'] });
  });

  test('is used by the keyboard alone', async () => {
    const page = await start({}, silentUser);
    await page.hasFocus(page.button('Interrupt'));
    await page.page.keyboard.press('Tab');
    await page.hasFocus(page.button('End'));
    await page.page.keyboard.press('Shift+Tab');
    await page.page.keyboard.press('Shift+Tab');
    await page.hasFocus(page.button('Mute'));
    await page.page.keyboard.press('Space');
    await state(page).toBe('Muted');
    await page.page.keyboard.press('Escape');
    await page.hasFocus(page.button('Hands-free'));
    await page.sees({ tracks: { opened: 1, live: 0 } });
    const { announcements } = await page.observed();
    expect(announcements).toEqual(['Listening.', 'Muted.', 'Stopped.']);
  });
});
