/** The reader of the page in Chromium, with a transcript of four hours and 40,000 words. */
import { chromium, type Page } from 'playwright-core';
import { spawnService } from '../test/support/child-service.ts';
import { requireProgram } from '../test/support/programs.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const lengths = { lecture: 40_000, memo: 200 } as const;
type Name = keyof typeof lengths;
const wordMs = 360;
const wordsOfSegment = 10;

/** Puts a transcript and its silent recording of 8 kHz into the library, as the page would. */
const seed = (name: Name, words: number) => `new Promise((resolve, reject) => {
  const timed = (from, count) => ({
    start_ms: from * ${wordMs}, end_ms: (from + count) * ${wordMs},
    text: Array.from({ length: count }, (_, index) => 'word' + (from + index)).join(' '),
  });
  const segments = Array.from({ length: ${words / wordsOfSegment} }, (_, index) => timed(index * ${wordsOfSegment}, ${wordsOfSegment}));
  const all = Array.from({ length: ${words} }, (_, index) => timed(index, 1));
  const text = segments.map((one) => one.text).join(' ');
  const samples = ${(words * wordMs * 8_000) / 1_000};
  const header = new DataView(new ArrayBuffer(44));
  new TextEncoder().encodeInto('RIFF    WAVEfmt ', new Uint8Array(header.buffer));
  new TextEncoder().encodeInto('data', new Uint8Array(header.buffer, 36));
  header.setUint32(4, 36 + samples, true); header.setUint32(16, 16, true); header.setUint16(20, 1, true);
  header.setUint16(22, 1, true); header.setUint32(24, 8000, true); header.setUint32(28, 8000, true);
  header.setUint16(32, 1, true); header.setUint16(34, 8, true); header.setUint32(40, samples, true);
  const file = new File([header, new Uint8Array(samples).fill(128)], '${name}.wav', { type: 'audio/wav' });
  const opening = indexedDB.open('parlance');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const writing = opening.result.transaction(['entries', 'contents', 'texts', 'files'], 'readwrite');
    const put = (store, value) => writing.objectStore(store).put(value, '${name}00000000');
    put('entries', { id: '${name}00000000', owner: '', kind: 'transcript', title: '${name}.wav', updated: Date.now(), revision: 1 });
    put('contents', { turns: [], transcript: { text, segments, words: all, language: 'en' } });
    put('texts', text);
    put('files', file);
    writing.oncomplete = () => { opening.result.close(); resolve(); };
    writing.onerror = () => reject(writing.error);
  };
})`;

/** The longest frame, in milliseconds, while the wheel turns through the transcript and then jumps in it. */
const scroll = `new Promise((resolve) => {
  let [longest, last, frames] = [0, performance.now(), 0];
  const step = (now) => {
    if (frames > 5) longest = Math.max(longest, now - last);
    last = now;
    frames += 1;
    if (frames > 240) return resolve(longest);
    if (frames % 40 === 0) scrollTo({ top: (document.documentElement.scrollHeight * frames) / 240, behavior: 'instant' });
    else scrollBy({ top: 120, behavior: 'instant' });
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

/** Milliseconds from a click on the middle of the window until the recording plays. */
const click = `new Promise((resolve) => {
  const { play } = HTMLMediaElement.prototype;
  let began;
  HTMLMediaElement.prototype.play = function () {
    this.addEventListener('playing', () => resolve(performance.now() - began), { once: true });
    HTMLMediaElement.prototype.play = play;
    return play.call(this);
  };
  const text = [...document.querySelectorAll('.segment > span')].find((one) => one.getBoundingClientRect().top > innerHeight / 3);
  const { x, y } = text.getBoundingClientRect();
  began = performance.now();
  text.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: x + 20, clientY: y + 12 }));
})`;

export async function benchReader({ rounds }: BenchOptions): Promise<Row[]> {
  await using service = await spawnService({
    env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    config: 'engines: { made-up: { use: sandbox } }',
  });
  await using browser = await chromium.launch({ executablePath: requireProgram('chromium'), args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  await page.goto(service.url);
  await page.getByText('Conversations are kept here.').waitFor();
  for (const name of ['lecture', 'memo'] as const) await page.evaluate(seed(name, lengths[name]));
  const times = await interleave(
    { lecture: () => measure(page, 'lecture'), memo: () => measure(page, 'memo') },
    rounds,
  );
  const of = (name: Name, which: keyof Times) => median(times[name].map((round) => round[which]));
  const row = (what: string, which: keyof Times, goal?: number, note?: string): Row => ({
    what,
    measured: milliseconds(of('lecture', which)),
    against: `${milliseconds(of('memo', which))} 200 words`,
    ratio: of('lecture', which) / of('memo', which),
    ...(goal !== undefined && { goal: { atMost: goal, value: of('lecture', which), unit: 'ms' } }),
    ...(note !== undefined && { note }),
  });
  return [
    row('a transcript of four hours, 40,000 words: from the click in the list to its text', 'openMs'),
    row(
      '  the longest frame while it scrolls',
      'frameMs',
      50,
      'The transcript of 200 words hardly scrolls: its longest frame shows the noise of the machine.',
    ),
    row('  from a click on a word to its sound', 'playMs', 150),
  ];
}

interface Times {
  readonly openMs: number;
  readonly frameMs: number;
  readonly playMs: number;
}

async function measure(page: Page, name: Name): Promise<Times> {
  await page.reload();
  await page.getByRole('button', { name: `Transcript: ${name}.wav`, exact: true }).waitFor();
  const openMs = await page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    document.querySelector('.entries button[title="${name}.wav"]').click();
    new MutationObserver((_changes, observer) => {
      if (!document.querySelector('.segment')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    }).observe(document.body, { childList: true, subtree: true });
  })`);
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))'); // the browser collects the garbage of the reload
  await page.waitForTimeout(1_000);
  const frameMs = await page.evaluate<number>(scroll);
  const playMs = await page.evaluate<number>(click);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  return { openMs, frameMs, playMs };
}

if (import.meta.main) await runBenchmarks([benchReader]);
