/** Takes the pictures of docs/images/: `node --conditions=parlance-source test/page/screenshots.ts`. Not a test. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { startLocalService } from '../support/local-service.ts';
import { requireProgram } from '../support/programs.ts';
import { startTestService } from '../support/service.ts';

const images = join(import.meta.dirname, '../../docs/images');

/** Looks like a machine with real models. */
const config = `
engines:
  espeak: { use: espeak }
  sandbox: { use: sandbox }
  groq: { use: hosted-stt, baseUrl: https://api.groq.com/openai/v1, apiKey: '\${GROQ_API_KEY}', models: [whisper-large-v3-turbo] }
`;

const question = 'think: They want a short plan, as a list.\nHow do I keep basil alive on a windowsill?';

async function send(page: Page, text: string): Promise<void> {
  const answers = await page.locator('article.answer').count();
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('article.answer').nth(answers).locator('> footer').waitFor();
}

interface Picture {
  readonly context?: BrowserContextOptions;
  readonly path?: string;
  /** On a machine on which nothing is set up. */
  readonly isFresh?: boolean;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const phone = { isMobile: true, hasTouch: true, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };

const type = (page: Page) =>
  page.getByRole('textbox', { name: 'Message' }).fill('Good morning. This needs no model but a voice.');

const pictures: Readonly<Record<string, Picture>> = {
  'page-first-run': { isFresh: true, context: { viewport: { width: 1280, height: 1000 } }, prepare: type },
  'page-first-run-dark': {
    isFresh: true,
    context: { viewport: { width: 1280, height: 1000 }, colorScheme: 'dark' },
    prepare: type,
  },
  'page-first-run-phone': { isFresh: true, context: phone, prepare: type },
  'page-first-run-phone-dark': { isFresh: true, context: { ...phone, colorScheme: 'dark' }, prepare: type },
  'page-voices': {
    prepare: async (page) => {
      await page.locator('#voice').click();
      await page.getByRole('searchbox').fill('english');
      await page.getByRole('radio').nth(3).click();
    },
  },
  'page-light': {},
  'page-dark': { context: { colorScheme: 'dark' } },
  'page-turn': {
    prepare: async (page) => {
      await send(page, question);
      await send(page, 'read aloud: Water it from below, and turn it every few days.');
    },
  },
  'page-phone': {
    context: { ...phone, viewport: { width: 390, height: 760 } },
    prepare: (page) => send(page, question),
  },
  'page-error': {
    prepare: async (page) => {
      await send(page, 'fail: provider-error');
      const file = { name: 'memo.wav', mimeType: 'audio/wav', buffer: Buffer.from('no recording') };
      await page.context().setOffline(true);
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByText('The recording is kept').waitFor();
    },
  },
  'page-hands-free': {
    context: { colorScheme: 'dark' },
    prepare: async (page) => {
      await send(page, 'How do I keep basil alive on a windowsill?');
      await page.getByRole('button', { name: 'Hands-free' }).click();
      await page
        .getByText(/^(Listening|Recording)/)
        .first()
        .waitFor();
    },
  },
  reference: {
    path: '/docs',
    context: { viewport: { width: 1280, height: 800 } },
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Open Group - Chat' }).click();
      await page.getByRole('link', { name: 'Create a chat answer as an event stream' }).click();
      await page.getByRole('region', { name: 'Create a chat answer as an event stream' }).waitFor();
      await page.waitForTimeout(1_000); // it scrolls
    },
  },
};

async function take(browser: Browser, name: string): Promise<void> {
  const { context: options = {}, path = '/', isFresh = false, prepare } = pictures[name]!;
  const { url } = isFresh ? fresh : service;
  const context = await browser.newContext({
    viewport: { width: 900, height: 720 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  await page.goto(url + path);
  if (isFresh) await page.getByRole('region', { name: 'Chat' }).getByRole('button').first().waitFor();
  else if (path === '/') await page.getByRole('button', { name: 'Speak', exact: true, disabled: false }).waitFor();
  await prepare?.(page);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await context.close();
}

await mkdir(images, { recursive: true });
const service = await startLocalService({ config });
const fresh = await startTestService();
const browser = await chromium.launch({
  executablePath: requireProgram('chromium'),
  args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
});
try {
  const wanted = process.argv.slice(2);
  for (const name of wanted.length > 0 ? wanted : Object.keys(pictures)) await take(browser, name);
} finally {
  await browser.close();
  await service[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
}
process.exit(0); // `startTestService` leaves a timer to the test run
