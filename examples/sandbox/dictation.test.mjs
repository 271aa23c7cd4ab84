import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startSandbox } from '@parlance/server/sandbox';
import { chromium } from 'playwright-core';
test('the page of the sandbox writes down what its microphone records', async () => {
  await using sandbox = await startSandbox();
  await using folder = await mkdtempDisposable('/tmp/microphone-');
  await writeFile(`${folder.path}/speech.wav`, (await sandbox.speak('Good morning.')).stream());
  const recording = `--use-file-for-fake-audio-capture=${folder.path}/speech.wav`; // over and over
  const args = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', recording];
  await using browser = await chromium.launch({ args, executablePath: process.env.CHROMIUM });
  const page = await browser.newPage({ baseURL: sandbox.url });
  await page.goto('/').then(() => page.getByRole('button', { name: 'Speak' }).click());
  await page.getByText('Good morning.').first().waitFor();
});
