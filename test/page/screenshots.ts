/** Takes the pictures of docs/images/: `node --conditions=parlance-source test/page/screenshots.ts`. Not a test. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { startLocalService } from '../support/local-service.ts';
import { requireProgram } from '../support/programs.ts';

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

const pictures: Readonly<
  Record<string, { context?: BrowserContextOptions; path?: string; prepare?: (page: Page) => Promise<unknown> }>
> = {
  'page-light': {},
  'page-dark': { context: { colorScheme: 'dark' } },
  'page-turn': {
    prepare: async (page) => {
      await send(page, question);
      await send(page, 'read aloud: Water it from below, and turn it every few days.');
    },
  },
  'page-phone': {
    context: { isMobile: true, hasTouch: true, viewport: { width: 390, height: 760 }, deviceScaleFactor: 2 },
    prepare: (page) => send(page, question),
  },
  'page-error': {
    prepare: async (page) => {
      await send(page, 'fail: provider-error');
      const file = { name: 'memo.wav', mimeType: 'audio/wav', buffer: Buffer.from('no recording') };
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
        .getByText(/^(Listening|Hearing)/)
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

async function take(browser: Browser, url: string, name: string): Promise<void> {
  const { context: options = {}, path = '/', prepare } = pictures[name]!;
  const context = await browser.newContext({
    viewport: { width: 900, height: 720 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  await page.goto(url + path);
  if (path === '/') await page.getByRole('button', { name: 'Speak', exact: true, disabled: false }).waitFor();
  await prepare?.(page);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await context.close();
}

await mkdir(images, { recursive: true });
const service = await startLocalService({ config });
const browser = await chromium.launch({
  executablePath: requireProgram('chromium'),
  args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
});
try {
  const wanted = process.argv.slice(2);
  for (const name of wanted.length > 0 ? wanted : Object.keys(pictures)) await take(browser, service.url, name);
} finally {
  await browser.close();
  await service[Symbol.asyncDispose]();
}
process.exit(0); // `startTestService` leaves a timer to the test run
