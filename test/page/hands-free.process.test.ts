/** A conversation without hands. */
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

/** The answer lasts longer than a turn. */
const slowVoice = `{
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    this.playbackRate = 0.0625;
    return play.call(this);
  };
}`;

const pausedHint = 'Speaking. The microphone is paused.';

describeWith(programs, 'hands-free', () => {
  const service = sharedService();
  const browser = sharedBrowser({ hears: wav(samples, { rate, channels: 1 }) });

  async function start(settings: object, script = patientUser, at = service()): Promise<UserPage> {
    const page = await openPage(browser(), at, { settings: { pauseMs: 500, ...settings }, script });
    await page.ready();
    await page.button('Hands-free').click();
    await textOf(page.hint).toContain('Listening.');
    return page;
  }

  const speak = ({ page }: UserPage) => page.evaluate('speak()');

  /** A busy machine tears holes into the sound: who is not understood says it again. Resolves with how often it was said. */
  async function say(page: UserPage): Promise<number> {
    const before = await page.questions.count();
    for (let takes = 1; takes <= 5; takes++) {
      await speak(page);
      await textOf(page.hint).toMatch(/^(Listening|Speaking)/);
      if ((await page.questions.count()) > before) return takes;
    }
    throw new Error('The page has not understood a word.');
  }

  const transcriptions = async (page: UserPage) =>
    (await page.observed()).announcements.filter((text) => text === 'Transcribing.').length;

  test('sends each turn and no click, listens again after the answer, and hears nothing while muted', async () => {
    const page = await start({ readAloud: false });
    const takes = (await say(page)) + (await say(page));
    await textOf(page.answers.locator('.markdown')).toBe('You said: alpha\nYou said: alpha');
    expect(await transcriptions(page)).toBe(takes);

    await page.button('Mute').click();
    await speak(page);
    await textOf(page.hint).toBe('Muted.');
    expect(await page.questions.count()).toBe(2);
    await page.button('Mute').click();
    await textOf(page.hint).toContain('Listening.');
    expect(await transcriptions(page)).toBe(takes);
  });

  test('pauses the microphone while it speaks, unless the user may interrupt it', async () => {
    const page = await start({}, patientUser + slowVoice);
    await say(page);
    await textOf(page.hint).toBe(pausedHint);
    await speak(page);
    await textOf(page.hint).toBe(pausedHint);
    expect(await page.questions.allTextContents()).toEqual(['alpha']);

    await page.button('Options').click();
    await page.page.getByLabel('interrupt answers by speaking').check();
    await page.button('Done').click();
    await textOf(page.hint).toBe('Speaking. Talk to interrupt.');
    await say(page);
    await textOf(page.questions).toBe('alpha\nalpha');
    await textOf(page.hint).toBe('Speaking. Talk to interrupt.');
    await page.button('Interrupt').click();
    await textOf(page.hint).toContain('Listening.');
    await page.sees({ isSounding: false });
  });

  test('ends the answer when the user speaks over it', async () => {
    const provider = await startProvider();
    provider.behave(stallsAfter(chunk({ content: 'This is the first sentence. It' })));
    const config = `engines:
  whisper: { use: whisper-cli, models: [{ id: tones, file: '\${WHISPER_MODEL}' }] }
  mind: { use: llm-agent, baseUrl: '${provider.baseUrl}', local: true, models: [scripted] }
  espeak: { use: espeak }`;
    const page = await start({ bargeIn: true }, patientUser + slowVoice, await startPageService({ config }));
    await say(page);
    await textOf(page.hint).toBe('Speaking. Talk to interrupt.');
    expect(await page.answers.getAttribute('aria-busy')).toBe('true');
    await say(page);
    await textOf(page.questions).toBe('alpha\nalpha');
    await textOf(page.answers.first()).toContain('Stopped.');
    await provider.calls[0]!.gone;
  });

  test('sends what was said until the microphone was disconnected', async () => {
    const page = await start({ readAloud: false });
    const speaking = speak(page);
    await textOf(page.hint).toBe('Recording your message.');
    await page.page.evaluate('unplug()');
    await textOf(page.alert).toContain('The microphone was disconnected');
    await page.button('Speak').waitFor();
    await speaking;
    expect(await transcriptions(page)).toBe(1);
  });

  test('keeps the screen on, and releases it and the microphone at the end', async () => {
    const page = await start({}, '');
    await page.sees({ wakeLocks: { asked: 1, held: 1 }, tracks: { opened: 1, live: 1 } });
    await page.button('Hands-free').click();
    await page.sees({ wakeLocks: { asked: 1, held: 0 }, tracks: { opened: 1, live: 0 } });
    await page.button('Speak').waitFor();
  });
});
