/** The fake microphone of Chromium plays the sandbox's speech to a page, whose recording has the same text. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startChromium } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sentences } from './sentences.ts';

/** Umlauts, JSON, CJK and emoji: all ten take a minute and a half. */
const text = [1, 2, 5, 6].map((index) => sentences[index]).join(' ');

/** Runs in the page: records until the text has been played once at least, and transcribes the recording. */
const record = `async (ms) => {
  const recorder = new MediaRecorder(await navigator.mediaDevices.getUserMedia({ audio: true }));
  const stopped = new Promise((resolve) => { recorder.ondataavailable = ({ data }) => resolve(data); });
  recorder.start();
  setTimeout(() => recorder.stop(), ms);
  const form = new FormData();
  form.set('file', await stopped);
  const answer = await fetch('/api/v1/transcribe', { method: 'POST', body: form });
  return (await answer.json()).text;
}`;

describeWith(['chromium'], 'a microphone', () => {
  it('plays sentences that survive its processing', { timeout: 240_000 }, async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const path = join(await temporaryDirectory(), 'speech.wav');
    const speech = await sandbox.speak(text);
    await writeFile(path, Buffer.from(await speech.arrayBuffer()));
    const fakes = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
    const browser = await startChromium([...fakes, `--use-file-for-fake-audio-capture=${path}`]);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(sandbox.url);
    // Played over and over, so that the recorder may begin late. A busy machine may tear holes into one recording.
    const ms = (2 * speech.size) / 32 + 1_000;
    await expect.poll(() => page.evaluate(`(${record})(${ms})`), { timeout: 200_000 }).toContain(text);
  });
});
