/** The page in a new tab of Chromium: first paint and first use, compared with a page that is one line of text. */
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
  ];
}

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
