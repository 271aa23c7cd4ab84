/** What the user sees while a recording is transcribed. */
import { expect, onTestFinished, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import {
  transcriptOf,
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  startPageService,
  textOf,
} from './support.ts';

/** Two are before it; it continues when the process emits `line-moves`. */
const waitingLine = `
const move = () => new Promise((resolve) => process.once('line-moves', resolve));
export default {
  contract: 1,
  name: 'waiting-line',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'base', local: true, supports: ['segment'] }],
    async transcribe(call, { onQueued, onSegment, onProgress }) {
      onQueued?.(2);
      await move();
      onQueued?.(0);
      await move();
      onQueued?.(null);
      onSegment?.({ startMs: 0, endMs: 250, text: 'the first words' });
      onProgress?.(250, 1000);
      await move();
      const segments = [
        { startMs: 0, endMs: 250, text: 'the first words' },
        { startMs: 250, endMs: 1000, text: 'and the last' },
      ];
      return { text: 'the first words and the last', language: 'en', durationMs: 1000, segments };
    },
  }),
};
`;

/** Its model is loaded when the process emits `line-moves`. */
const loadingModel = `
const loading = { available: true, code: 'loading', reason: 'Ready.' };
export default {
  contract: 1,
  name: 'loading-model',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: (_options, { publish }) => ({
    models: [{ id: 'base', local: true, availability: loading }],
    async transcribe() {
      await new Promise((resolve) => process.once('line-moves', resolve));
      publish([{ id: 'base', local: true }]);
      return { text: 'its words', language: 'en', durationMs: 1000 };
    },
  }),
};
`;

describeWith(programs, 'a user who waits for a transcript', () => {
  const service = sharedService();
  const browser = sharedBrowser();

  test('sees how much of the recording was sent', async () => {
    const page = await openPage(browser(), service());
    const session = await page.page.context().newCDPSession(page.page);
    onTestFinished(() => session.detach());
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 200_000,
    });
    await page.ready();
    await page.page.evaluate(`{
      const hint = document.querySelector('.hint');
      window.hints = [];
      new MutationObserver(() => hints.push(hint.textContent)).observe(hint, { subtree: true, characterData: true });
    }`);
    await page.upload('memo.wav', toneWav({ words: ['alpha'], rate: 48_000 }));
    await transcriptOf(page).toBe('alpha');
    expect(await page.page.evaluate('hints')).toContainEqual(expect.stringMatching(/^Uploading: [1-9]\d? %\.$/));
  });

  test('sees that the model is being loaded', async () => {
    const slow = await startPageService({
      config: 'engines: { slow: { use: ./loading-model.mjs } }',
      files: { 'loading-model.mjs': loadingModel },
    });
    const page = await openPage(browser(), slow);
    await page.upload('memo.wav', toneWav({ words: ['alpha'], rate: 16_000 }));
    await textOf(page.hint).toBe('Loading the model.');
    await expect.poll(() => process.listenerCount('line-moves'), patience).toBe(1);
    (process as NodeJS.EventEmitter).emit('line-moves');
    await transcriptOf(page).toBe('its words');
  });

  test('sees the place in the line, and a transcript that grows', async () => {
    const line = await startPageService({
      config: 'engines: { line: { use: ./waiting-line.mjs } }',
      files: { 'waiting-line.mjs': waitingLine },
    });
    const move = () => (process as NodeJS.EventEmitter).emit('line-moves');
    const page = await openPage(browser(), line);
    await page.upload('memo.wav', toneWav({ words: ['alpha'], rate: 16_000 }));
    await textOf(page.hint).toBe('In the queue: 2 ahead.');
    move();
    await textOf(page.hint).toBe('Next in the queue.');
    move();
    await textOf(page.hint).toBe('Transcribing: 25 %.');
    await textOf(page.page.locator('.growing')).toBe('the first words');
    const bar = page.page.getByRole('progressbar', { name: 'Transcription' });
    expect(await bar.evaluate(({ value }: { value: number }) => value)).toBe(0.25);
    move();
    await transcriptOf(page).toBe('the first words and the last');
    expect(await page.page.locator('.growing').count()).toBe(0);
  });
});
