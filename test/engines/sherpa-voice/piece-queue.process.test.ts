/** Several speeches at once, on one program: their pieces alternate, and none waits for a reader. */
import { expect, it, vi } from 'vitest';
import { metricsUrl } from '../../metrics/support.ts';
import { until } from '../../support/processes.ts';
import { recognize } from '../../support/tone-listener.ts';
import { said, sentenceOf, startVoices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const textOf = (sentences: number, first = 0) =>
  Array.from({ length: sentences }, (_, k) => sentenceOf(60, first + k)).join(' ');

const letters = (wav: Buffer) => recognize(wav).replaceAll(' ', '');

it('four at once are all complete', async () => {
  const { wav, programs } = await startVoices({ options: { slots: 2 } });
  const texts = [0, 1, 2, 3].map((first) => textOf(6, first));
  const sounds = await Promise.all(texts.map((text) => wav({ text })));
  expect(sounds.map(letters)).toEqual(texts.map(said));
  expect(programs()).toHaveLength(1);
});

it('a slow reader holds up no one, and nothing is made for it ahead of time', async () => {
  const { say, wav, service } = await startVoices({ options: { slots: 1 }, env: { METRICS_PORT: '0' } });
  const { audio } = await say({ text: textOf(100), format: 'mp3' });
  const reading = audio[Symbol.asyncIterator]();
  await reading.next();
  for (let n = 0; n < 3; n++) expect(letters(await wav())).toBe('yesnohello');
  const made = /queue_wait_seconds_count\{engine="voice"\} (\d+)/.exec(await (await fetch(metricsUrl(service))).text());
  expect(Number(made?.[1]), 'pieces').toBeLessThan(12);
  await reading.return?.();
});

it('one that comes when the queue is full is refused; the running one continues', async () => {
  const { wav, availability } = await startVoices({
    voices: { voice: { isMedium: true } },
    options: { slots: 1, waiting: 0 },
  });
  const text = textOf(3);
  const first = wav({ text });
  await until('it is busy', () => availability().code === 'busy');
  await expect(wav()).rejects.toMatchObject({ code: 'overloaded' });
  expect(letters(await first)).toBe(said(text));
});
