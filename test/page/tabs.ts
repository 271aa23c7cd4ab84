/**
 * Tabs of a browser, one test after the other: a renderer that has run the page once opens it in a third of the time.
 * Between two tests a tab is empty, and nothing is stored in it.
 */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { observer } from './observer.ts';

export interface Tab {
  readonly page: Page;
  /** Addresses that were asked for since the tab was taken. */
  readonly asked: readonly string[];
  /** Errors of scripts and of the console since then. */
  readonly errors: readonly string[];
  /** Ends what runs in it. */
  leave(): Promise<void>;
}

export interface TabOptions {
  readonly context?: BrowserContextOptions;
  /** A context of its own, which ends with the test. */
  readonly isAlone?: boolean;
}

/** Those that no test has, by the options of their context. */
const empty = new WeakMap<Browser, Map<string, Page>>();

export async function takeTab(browser: Browser, { context = {}, isAlone = false }: TabOptions): Promise<Tab> {
  const { colorScheme = 'light', forcedColors = 'none', reducedMotion = 'no-preference', ...options } = context;
  const kind = JSON.stringify(options);
  const others = empty.get(browser) ?? new Map<string, Page>();
  empty.set(browser, others);
  const left = isAlone ? undefined : others.get(kind);
  if (left) others.delete(kind);
  const page = left ?? (await newTab(browser, options));
  await page.emulateMedia({ colorScheme, forcedColors, reducedMotion });
  const asked: string[] = [];
  const errors: string[] = [];
  listen(page.context(), asked, errors);
  const leave = async () => {
    if (isAlone) return page.context().close();
    await clear(page, options);
    others.set(kind, page);
  };
  return { page, asked, errors, leave };
}

async function newTab(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ permissions: ['microphone', 'screen-wake-lock'], ...options });
  await context.addInitScript(observer);
  return context.newPage();
}

function listen(context: BrowserContext, asked: string[], errors: string[]): void {
  context.on('request', (request) => asked.push(request.url()));
  context.on('weberror', (error) => errors.push(error.error().message));
  context.on('console', (message) => {
    // A refused request is reported by the browser itself.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    errors.push(message.text());
  });
}

const usualViewport = { width: 1280, height: 720 };

async function clear(page: Page, { viewport }: BrowserContextOptions): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await context.setOffline(false);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const { origin } = new URL(page.url());
  await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await page.setViewportSize(viewport ?? usualViewport);
  page.removeAllListeners();
  context.removeAllListeners();
}
