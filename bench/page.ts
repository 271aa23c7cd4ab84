/**
 * The page in a new tab of Chromium: first paint and first use, compared with a page that is one line of text; and its
 * list of conversations.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';
import { usableWatcher } from '../test/page/observer.ts';
import { spawnService } from '../test/support/child-service.ts';
import { requireProgram } from '../test/support/programs.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

export async function benchPage({ rounds }: BenchOptions): Promise<Row[]> {
  await using service = await spawnService({
    env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    config: 'engines: { made-up: { use: sandbox } }',
  });
  const bare = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><textarea>Hello</textarea>');
  });
  await once(bare.listen(0, '127.0.0.1'), 'listening');
  await using browser = await chromium.launch({ executablePath: requireProgram('chromium'), args: ['--no-sandbox'] });
  const { port } = bare.address() as AddressInfo;
  const times = await interleave(
    { ours: () => open(browser, service.url), bare: () => open(browser, `http://127.0.0.1:${port}`) },
    rounds,
  );
  bare.close();
  const library = await measureLibrary(browser, service.url, rounds);
  const of = (name: keyof typeof times, which: keyof Times) => median(times[name].map((round) => round[which]));
  const row = (what: string, which: keyof Times, goal: number, note?: string): Row => ({
    what,
    measured: milliseconds(of('ours', which)),
    against: `${milliseconds(of('bare', which))} one line of text`,
    ratio: of('ours', which) / of('bare', which),
    goal: { atMost: goal, value: of('ours', which), unit: 'ms' },
    ...(note !== undefined && { note }),
  });
  return [
    row(
      'the page in a new tab, first byte to first paint',
      'paintedMs',
      103,
      'Chromium paints nothing before the script has drawn the whole page, which then takes text at once. The time depends on the load of the machine: earlier runs of the same page took 133 ms.',
    ),
    row('  to a composer that takes text', 'usableMs', 300),
    ...library,
  ];
}

/** 200 conversations of 100 messages: the list, one of them, and a search, from the click to the drawn frame. */
async function measureLibrary(browser: Browser, url: string, rounds: number): Promise<Row[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(fillLibrary);
  const times: Record<'list' | 'opened' | 'found', number>[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.evaluate(`sessionStorage.clear()`);
    await page.goto(url);
    times.push(await page.evaluate(useLibrary));
  }
  await context.close();
  const row = (what: string, which: keyof (typeof times)[number]): Row => {
    const value = median(times.map((one) => one[which]));
    return { what, measured: milliseconds(value), against: '200 ms', ratio: value / 200, goal: { atMost: 1 } };
  };
  return [
    row('  to a list of 200 conversations of 100 messages, from the start of the script', 'list'),
    row('  one of them, from the click to its 100 messages', 'opened'),
    row('  a search in all 20,000 messages, from the last letter to the shorter list', 'found'),
  ];
}

const fillLibrary = String.raw`new Promise((resolve, reject) => {
  const opening = indexedDB.open('parlance');
  opening.onerror = reject;
  opening.onsuccess = () => {
    const writing = opening.result.transaction(['entries', 'contents', 'texts'], 'readwrite');
    const words = 'the rain in spain stays mainly on a wide and quiet plain where nobody asks for more than that ';
    for (let n = 0; n < 200; n++) {
      const id = 'conversation' + n;
      const title = 'Question ' + n + ' of two hundred';
      const turns = Array.from({ length: 50 }, (_, at) => [
        { role: 'user', text: title + ', ' + at },
        { role: 'assistant', state: 'done', text: '**Answer** ' + at + '\n\n- one\n- two\n\n' + words.repeat(5) },
      ]).flat();
      writing.objectStore('entries').put({ id, owner: '', kind: 'chat', title, updated: n, revision: 1 }, id);
      writing.objectStore('contents').put({ turns }, id);
      writing.objectStore('texts').put(turns.map(({ text }) => text.toLowerCase()).join('\n'), id);
    }
    writing.oncomplete = () => resolve(opening.result.close());
  };
})`;

const useLibrary = String.raw`(async () => {
  const drawn = async (isDrawn) => {
    while (!isDrawn()) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now();
  };
  const entries = () => document.querySelectorAll('.entries li').length;
  const [script] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
  const list = (await drawn(() => entries() === 200)) - script.responseEnd;
  const clickedAt = performance.now();
  document.querySelector('.entries li button').click();
  const opened = (await drawn(() => document.querySelectorAll('.turn').length === 100)) - clickedAt;
  const typedAt = performance.now();
  const field = document.querySelector('[type=search]');
  field.value = 'question 199';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  const found = (await drawn(() => entries() === 1)) - typedAt;
  return { list, opened, found };
})()`;

/** Milliseconds since the first byte of the page. */
interface Times {
  readonly paintedMs: number;
  readonly usableMs: number;
}

/** Opens a new context, whose cache is empty. */
async function open(browser: Browser, url: string): Promise<Times> {
  const context = await browser.newContext();
  await context.addInitScript(usableWatcher);
  const page = await context.newPage();
  await page.goto(url);
  const times = await page.evaluate<Times>(`new Promise((resolve) => {
    const look = () => {
      const [{ responseStart }] = performance.getEntriesByType('navigation');
      const [painted] = performance.getEntriesByName('first-contentful-paint');
      if (!painted || !window.usableAt) return setTimeout(look, 10);
      resolve({ paintedMs: painted.startTime - responseStart, usableMs: usableAt - responseStart });
    };
    look();
  })`);
  await context.close();
  return times;
}

if (import.meta.main) await runBenchmarks([benchPage]);
