/** An `<audio>` element of a real browser plays a clip, while it is being made and after. */
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { describeWith, run } from '../support/programs.ts';
import { addressOf, makeClip, open, startSpeechService } from './support.ts';

const patience = { timeout: 30_000, interval: 20 };

/** The state of the page's `<audio>`. */
interface Player {
  readonly currentTime: number;
  readonly duration: number | null;
  readonly ended: boolean;
  readonly error: string | null;
}

describeWith(['chromium', 'espeak-ng', 'ffmpeg'], 'in Chromium', (programs) => {
  let browser: Browser;
  let directory: string;
  /** Some 7 seconds of speech. */
  let speech: { readonly path: string; readonly bytes: number; readonly seconds: number };

  beforeAll(async () => {
    browser = await startChromium(['--autoplay-policy=no-user-gesture-required']);
    directory = await mkdtemp(join(tmpdir(), 'parlance-speech-'));
    const [wav, path] = [join(directory, 'speech.wav'), join(directory, 'speech.mp3')];
    const text = 'The quick brown fox jumps over the lazy dog, and then it does so once more. '.repeat(2);
    await run(programs['espeak-ng'], ['-w', wav, text]);
    await run(programs.ffmpeg, ['-loglevel', 'error', '-i', wav, '-b:a', '64k', path]);
    const bytes = (await readFile(path)).length;
    speech = { path, bytes, seconds: (bytes * 8) / 64_000 };
  });
  afterAll(async () => {
    await browser.close();
    await rm(directory, { recursive: true });
  });

  /** Not `about:blank`, to which browsers refuse loopback addresses. */
  async function openPage(url: string): Promise<Page> {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(url);
    return page;
  }

  /** The state of the page's only player. */
  const stateOf = (page: Page): Promise<Player> =>
    page.evaluate(`(() => {
      const { currentTime, duration, ended, error } = document.querySelector('audio');
      return { currentTime, duration: Number.isFinite(duration) ? duration : null, ended, error: error && error.message };
    })()`);

  /** Puts the player into the page and starts it, at four times the speed. */
  const play = (page: Page, src: string, attributes = '') =>
    page.evaluate(`(() => {
      document.body.innerHTML = '<audio ${attributes} src="${src}"></audio>';
      const audio = document.querySelector('audio');
      audio.defaultPlaybackRate = audio.playbackRate = 4;
      return audio.play();
    })()`);

  test('a clip plays before completion, to its end, and then seeks', async () => {
    const { path, bytes, seconds } = speech;
    const service = await startSpeechService({ speech: `file: "${path}"` });
    const half = Math.floor(bytes / 2);
    const clip = await makeClip(service, `${half} gate:go ${bytes - half}`);
    const page = await openPage(`${service.url}/healthz`);
    const statuses: number[] = [];
    page.on('response', (response) => void statuses.push(response.status()));

    await play(page, addressOf(service, clip));
    await expect.poll(async () => (await stateOf(page)).currentTime, patience).toBeGreaterThan(1);
    expect(await stateOf(page)).toMatchObject({ ended: false, error: null });
    await open(service, 'go');
    await expect.poll(async () => (await stateOf(page)).ended, patience).toBe(true);
    expect((await stateOf(page)).currentTime).toBeGreaterThan(seconds - 1);
    expect(statuses).toEqual([200]);

    await play(page, addressOf(service, clip) + '?again');
    await page.evaluate(`document.querySelector('audio').currentTime = ${seconds - 3}`);
    await expect.poll(async () => (await stateOf(page)).ended, patience).toBe(true);
    const { duration, error } = await stateOf(page);
    expect(error).toBeNull();
    expect(Math.abs((duration ?? 0) - seconds)).toBeLessThan(1);
    expect(statuses.slice(1)).toContain(206);
  });

  test('a clip plays with `crossorigin` on an allowed origin', async () => {
    const pages = createServer(
      (_request, response) => void response.setHeader('content-type', 'text/html').end('<body>'),
    );
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void pages.close());
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const { path, bytes } = speech;
    const service = await startSpeechService({ speech: `file: "${path}"`, env: { CORS_ORIGINS: origin } });
    const clip = await makeClip(service, String(Math.floor(bytes / 4)));
    const page = await openPage(origin);
    await play(page, addressOf(service, clip), 'crossorigin');
    await expect.poll(async () => (await stateOf(page)).ended, patience).toBe(true);
    expect((await stateOf(page)).error).toBeNull();
  });

  test('a clip whose synthesis fails is a player error, not an early end', async () => {
    const { path, bytes } = speech;
    const service = await startSpeechService({ speech: `file: "${path}"` });
    const clip = await makeClip(service, `${Math.floor(bytes / 2)} gate:go fail`);
    const page = await openPage(`${service.url}/healthz`);
    await play(page, addressOf(service, clip));
    await expect.poll(async () => (await stateOf(page)).currentTime, patience).toBeGreaterThan(1);
    await open(service, 'go');
    await expect.poll(async () => (await stateOf(page)).error, patience).not.toBeNull();
    expect((await stateOf(page)).ended).toBe(false);
  });
});
