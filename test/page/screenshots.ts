/** Takes the pictures of docs/images/: `node --conditions=parlance-source test/page/screenshots.ts`. Not a test. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { startLocalService } from '../support/local-service.ts';
import { requireProgram, run } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { spokenText, startScriptedProvider } from './scripted-provider.ts';
import { terminal } from './terminal.ts';

const home = join(import.meta.dirname, '../..');
const images = join(home, 'docs/images');
const work = await mkdtemp(join(tmpdir(), 'parlance-pictures-'));
const provider = await startScriptedProvider();

/** Looks like a machine with real models. */
const config = `
engines:
  espeak: { use: espeak }
  sandbox: { use: sandbox }
  groq: { use: hosted-stt, baseUrl: https://api.groq.com/openai/v1, apiKey: '\${GROQ_API_KEY}', models: [whisper-large-v3-turbo] }
`;

/** A scripted provider, the real MCP server for files, and eSpeak NG. */
const scripted = `
engines:
  recognizer: { use: hosted-stt, baseUrl: '${provider.baseUrl}', local: true, models: [{ id: scripted-transcription, supports: [segment, diarize] }] }
  answers: { use: llm-agent, baseUrl: '${provider.baseUrl}', local: true, models: [scripted-chat] }
  espeak: { use: espeak }
mcpServers:
  notes: { command: node, args: ['${home}/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', '${work}'] }
`;

const transcribe = `curl -F file=@call.mp3 -F response_format=srt \\
    http://127.0.0.1:8484/v1/audio/transcriptions`;

async function send(page: Page, text: string): Promise<void> {
  const answers = await page.locator('article.answer').count();
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('article.answer').nth(answers).locator('> footer').waitFor();
}

interface Picture {
  readonly context?: BrowserContextOptions;
  readonly path?: string;
  /** fresh: a machine on which nothing is set up. Default: usual. */
  readonly machine?: keyof typeof machines;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const phone = { isMobile: true, hasTouch: true, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };

const type = (page: Page) =>
  page.getByRole('textbox', { name: 'Message' }).fill('Good morning. This needs no model but a voice.');

/** eSpeak NG makes the recording. The subtitles are also in the folder that the MCP server serves. */
async function writeSubtitles(url: string): Promise<string> {
  const speech = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: spokenText }),
  });
  await writeFile(join(work, 'call.mp3'), await speech.bytes());
  const { host } = new URL(url);
  const subtitles = await run('sh', ['-c', `cd '${work}' && ${transcribe.replace('127.0.0.1:8484', host)}`]);
  await writeFile(join(work, 'call.srt'), subtitles);
  return subtitles;
}

const small = { viewport: { width: 480, height: 600 }, deviceScaleFactor: 2 };

const conversation: Picture = {
  machine: 'scripted',
  context: { ...small, viewport: { width: 480, height: 720 } },
  prepare: async (page) => {
    await writeSubtitles(machines.scripted.url);
    await send(page, 'What is still open after the call?');
  },
};

/** A microphone without a sound: the browser's own beeps would be words, and interrupt the answer. */
const silence = `navigator.mediaDevices.getUserMedia = async () => {
  const { stream } = new AudioContext().createMediaStreamDestination();
  stream.getAudioTracks()[0].getSettings = () => ({ echoCancellation: true });
  return stream;
}`;

/** The dialog covers the composer. */
const asIfSaid = (text: string) => `{
  const message = document.getElementById('message');
  message.value = ${JSON.stringify(text)};
  message.dispatchEvent(new Event('input', { bubbles: true }));
  message.form.requestSubmit();
}`;

const handsFree: Picture = {
  machine: 'scripted',
  context: small,
  prepare: async (page) => {
    await writeSubtitles(machines.scripted.url);
    await page.evaluate(silence);
    await page.getByRole('switch', { name: 'Read answers aloud' }).click(); // as what is said is answered
    await page.getByRole('button', { name: 'Hands-free' }).click();
    await page.getByText('Say something.').waitFor();
    await page.mouse.move(0, 0);
    await page.evaluate(asIfSaid('What is still open after the call?'));
    await page.locator('[data-state="speaking"]').getByText('before the tenth').waitFor();
  },
};

const subtitles: Picture = {
  machine: 'scripted',
  context: small,
  prepare: async (page) => {
    await page.goto('about:blank'); // the policy of our page refuses a text from outside
    await page.setContent(terminal(`$ ${transcribe}\n${await writeSubtitles(machines.scripted.url)}`));
  },
};

const inTheDark = (picture: Picture): Picture => ({ ...picture, context: { ...picture.context, colorScheme: 'dark' } });

const pictures: Readonly<Record<string, Picture>> = {
  'hands-free': handsFree,
  'hands-free-dark': inTheDark(handsFree),
  subtitles,
  'subtitles-dark': inTheDark(subtitles),
  conversation,
  'page-first-run': { machine: 'fresh', context: { viewport: { width: 1280, height: 1000 } }, prepare: type },
  'page-first-run-dark': {
    machine: 'fresh',
    context: { viewport: { width: 1280, height: 1000 }, colorScheme: 'dark' },
    prepare: type,
  },
  'page-first-run-phone': { machine: 'fresh', context: phone, prepare: type },
  'page-first-run-phone-dark': { machine: 'fresh', context: { ...phone, colorScheme: 'dark' }, prepare: type },
  'page-models': {
    context: { viewport: { width: 900, height: 900 } },
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Models/ }).click();
      await page.getByLabel('Language of recordings').selectOption('German');
    },
  },
  'page-voices': {
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Models/ }).click();
      await page.locator('#voice').click();
      await page.getByRole('searchbox').fill('english');
      await page.getByRole('radio').nth(3).click();
    },
  },
  'page-light': {},
  'page-dark': { context: { colorScheme: 'dark' } },
  'page-error': {
    prepare: async (page) => {
      await send(page, 'fail: provider-error');
      const file = { name: 'memo.wav', mimeType: 'audio/wav', buffer: Buffer.from('no recording') };
      await page.context().setOffline(true);
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByText('The recording is kept').waitFor();
      await page.getByRole('progressbar', { name: 'Transcription' }).waitFor({ state: 'detached' });
    },
  },
  'page-reader': {
    context: { viewport: { width: 1280, height: 800 } },
    machine: 'scripted',
    prepare: async (page) => {
      await writeSubtitles(machines.scripted.url); // the recording, too
      await page.evaluate(`localStorage.setItem('parlance-settings', '{"speakers":"voice"}')`);
      await page.reload();
      await page.getByRole('button', { name: 'Speak', exact: true, disabled: false }).waitFor();
      await page.locator('input[type=file]').setInputFiles(join(work, 'call.mp3'));
      for (const [label, name] of [
        ['A', 'Grace'],
        ['B', 'Workshop'],
      ] as const) {
        await page.getByRole('group', { name: /^Speakers/ }).getByText(label, { exact: true }).click(); // prettier-ignore
        await page.getByRole('textbox', { name: 'Name' }).fill(name);
        await page.keyboard.press('Enter');
      }
      await page.locator('.segment').nth(1).getByRole('button').first().click();
      await page.locator('.segment[aria-current]').waitFor();
    },
  },
  'page-hands-free': { ...handsFree, context: { colorScheme: 'dark' } },
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
  const { context: options = {}, path = '/', machine = 'usual', prepare } = pictures[name]!;
  const context = await browser.newContext({
    viewport: { width: 900, height: 720 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  await page.goto(machines[machine].url + path);
  if (machine === 'fresh') await page.getByRole('region', { name: 'Chat' }).getByRole('button').first().waitFor();
  else if (path === '/') await page.getByRole('button', { name: 'Speak', exact: true, disabled: false }).waitFor();
  await prepare?.(page);
  const picture = join(work, `${name}.png`);
  await page.screenshot({ path: picture });
  // 256 colors: a third of the bytes.
  const palette = 'split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none';
  await run('ffmpeg', ['-v', 'error', '-y', '-i', picture, '-vf', palette, join(images, `${name}.png`)]);
  await context.close();
}

await mkdir(images, { recursive: true });
const machines = {
  usual: await startLocalService({ config }),
  fresh: await startTestService(),
  scripted: await startTestService({ config: scripted }),
} satisfies Record<string, TestService>;
const browser = await chromium.launch({
  executablePath: requireProgram('chromium'),
  args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
});
try {
  const wanted = process.argv.slice(2);
  for (const name of wanted.length > 0 ? wanted : Object.keys(pictures)) await take(browser, name);
} finally {
  await browser.close();
  for (const machine of Object.values(machines)) await machine[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await rm(work, { recursive: true });
}
process.exit(0); // `startTestService` leaves a timer to the test run
