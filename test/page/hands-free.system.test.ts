/** A conversation without hands. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { tonePcm, wav, type Word } from '../support/tone-model.ts';
import { openPage, programs, sharedBrowser, sharedService, textOf } from './support.ts';

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
const words = (...all: Word[]) => tonePcm({ words: all, rate, tailSeconds: 0 }).subarray(rate / 2);
const click = Int16Array.from({ length: 0.06 * rate }, (_, at) => 9_000 * Math.sin(at));

function recordingOf(...parts: readonly Int16Array[]): { readonly hears: Buffer; readonly seconds: number } {
  const samples = parts.reduce((sum, { length }) => sum + length, 0);
  const pcm = new Int16Array(samples);
  let at = 0;
  for (const part of parts) {
    pcm.set(part, at);
    at += part.length;
  }
  return { hears: wav(pcm, { rate, channels: 1 }), seconds: samples / rate };
}

const settings = { pauseMs: 500 };

describeWith(programs, 'hands-free', () => {
  const service = sharedService();
  const gap = room(4);
  const [alpha, charlie, golf] = [words('alpha', 'bravo'), words('charlie', 'delta', 'echo'), words('golf', 'hotel')];
  const recording = recordingOf(room(1.5), click, room(1.5), alpha, gap, charlie, gap, golf, room(1));
  const browser = sharedBrowser(recording);

  test('two turns, a click that is none, and a third that is muted', async () => {
    const page = await openPage(browser(), service(), { settings: { ...settings, readAloud: false } });
    await page.ready();
    await page.button('Hands-free').click();
    await textOf(page.hint).toContain('Listening.');
    await page.sees({ wakeLocks: { asked: 1, held: 1 }, tracks: { opened: 1, live: 1 } });
    await textOf(page.questions).toBe('alpha bravo');
    await textOf(page.questions).toBe('alpha bravo\ncharlie delta echo');
    await textOf(page.answers.locator('.markdown')).toBe('You said: alpha bravo\nYou said: charlie delta echo');

    await page.button('Mute').click();
    await textOf(page.hint).toBe('Muted.');
    await page.listened(recording.seconds);
    await textOf(page.hint).toBe('Muted.');
    expect(await page.questions.count()).toBe(2);
    await page.button('Mute').click();
    await textOf(page.hint).toContain('Listening.');

    await page.button('Hands-free').click();
    await page.sees({ wakeLocks: { asked: 1, held: 0 }, tracks: { opened: 1, live: 0 } });
    await page.button('Speak').waitFor();
  });
});

describeWith(programs, 'hands-free with answers that are read aloud', () => {
  const service = sharedService();
  const onAndOn = words('charlie', 'delta', 'echo', 'golf', 'hotel', 'kilo', 'charlie', 'delta', 'echo', 'golf');
  const recording = recordingOf(room(1.5), words('alpha', 'bravo'), room(2), onAndOn, room(1));
  const browser = sharedBrowser(recording);

  /** The answer lasts longer than the recording. */
  const slowVoice = `{
    const { play } = HTMLMediaElement.prototype;
    HTMLMediaElement.prototype.play = function () {
      this.playbackRate = 0.0625;
      return play.call(this);
    };
  }`;
  const deaf = 'Speaking. The microphone is deaf meanwhile.';

  test('is deaf while it speaks', async () => {
    const page = await openPage(browser(), service(), { settings, script: slowVoice });
    await page.ready();
    await page.button('Hands-free').click();
    await textOf(page.hint).toBe(deaf);
    expect((await page.observed()).listenedMs).toBeLessThan((recording.seconds - 1.5) * 1_000); // some words are to come
    await page.listened(recording.seconds);
    expect(await page.hint.textContent()).toBe(deaf);
    await page.button('Interrupt').click();
    await textOf(page.hint).toContain('Listening.');
    expect(await page.questions.allTextContents()).toEqual(['alpha bravo']);
    await page.sees({ isSounding: false, tracks: { opened: 1, live: 1 } });
  });
});
