/** The microphone button of the examples, in a real browser with a fake microphone and the real whisper-cli. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startLocalService } from '../support/local-service.ts';
import { startChromium } from '../support/chromium.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { speechSeconds, toneWav } from '../support/tone-model.ts';
import { home } from './support/pages.ts';

const example = join(home, 'examples/browser/microphone.ts');

test('the example has 40 lines', () => {
  expect(readFileSync(example, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

describeWith(['chromium', 'whisper-cli'], 'the microphone button', () => {
  const speech = { words: ['alpha', 'bravo'] as const, rate: 48_000, tailSeconds: 0.5 };

  let browser: Browser;
  let directory: string;
  let script: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-microphone-'));
    const recording = join(directory, 'speech.wav');
    await writeFile(recording, toneWav(speech));
    browser = await startChromium([
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      `--use-file-for-fake-audio-capture=${recording}%noloop`,
    ]);
    const { outputFiles } = await build({
      ...{ entryPoints: [example], bundle: true, write: false },
      ...{ platform: 'browser', format: 'esm', conditions: ['parlance-source'] },
    });
    script = outputFiles[0]?.text ?? '';
  });
  afterAll(async () => {
    await browser.close();
    await rm(directory, { recursive: true });
  });

  /** On a page below the service, as a frontend's own server would have it. */
  async function openExample(service: TestService): Promise<Page> {
    const [, body = ''] = /^\/\/ +(<button.*)$/m.exec(readFileSync(example, 'utf8')) ?? [];
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.route('**/example/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.route('**/example/microphone.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: script }),
    );
    await page.goto(`${service.url}/example/`);
    return page;
  }

  test('records, and shows what was said', async () => {
    const service = await startLocalService();
    onTestFinished(() => service[Symbol.asyncDispose]());
    const page = await openExample(service);
    const said = page.locator('#said');
    const stop = page.getByRole('button', { name: 'Stop' });
    const take = async () => {
      await said.evaluate((output: { textContent: string }) => (output.textContent = ''));
      await page.getByRole('button', { name: 'Speak' }).click();
      await stop.waitFor();
      await wait(speechSeconds(speech) * 1000); // speech takes its time
      await stop.click();
      await expect.poll(() => said.textContent()).not.toMatch(/^…?$/);
      return said.textContent();
    };
    // On a busy machine, the recorder may begin too late for the model: then the user says it again.
    await expect.poll(take, { timeout: 50_000 }).toBe('alpha bravo');
    expect(await page.getByRole('button').textContent()).toBe('Speak');
  });

  test('says why there is no microphone', async () => {
    const service = await startTestService({ env: { TRANSCRIBE_ENABLED: 'false' } });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const page = await openExample(service);
    await expect.poll(() => page.locator('#said').textContent()).toMatch(/switched off/);
    expect(await page.getByRole('button').isDisabled()).toBe(true);
  });
});
