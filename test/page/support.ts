/** The page in Chromium, with a fake microphone, in front of a service with real speech recognition and synthesis. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { startChromium, windowless } from '../support/chromium.ts';
import { startLocalService } from '../support/local-service.ts';
import { requireProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { LogLine, TestService, TestServiceOptions } from '../support/service.ts';
import type { Observed } from './observer.ts';
import { takeTab } from './tabs.ts';

export const programs = ['chromium', 'whisper-cli', 'espeak-ng'] as const;

/** A machine that is busy elsewhere makes the page slow, not wrong. */
export const patience = { timeout: 30_000, interval: 20 };

// ------------------------------------------------------------------------------------------------------ service

/** The tone model transcribes, the sandbox answers, eSpeak speaks. Slow models are there to be chosen, one lacks its key. */
const engines = `
engines:
  whisper: { use: whisper-cli, models: [{ id: tones, file: '\${WHISPER_MODEL}' }] }
  espeak: { use: espeak }
  made-up: { use: sandbox }
  groq: { use: hosted-stt, baseUrl: https://api.groq.com/openai/v1, apiKey: '\${GROQ_API_KEY}', models: [large] }
`;

/** One service for all tests of a file. */
export function sharedService(options: TestServiceOptions = {}): () => TestService {
  return shared(() => startLocalService({ config: engines, ...options }));
}

export async function startPageService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startLocalService({ config: engines, ...options });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

/** Requests that the service has logged. Default: of all operations. */
export const requestsOf = ({ log }: TestService, operation?: string): LogLine[] =>
  log.filter((line) => line.msg === 'request' && (operation === undefined || line.operation === operation));

// ------------------------------------------------------------------------------------------------------ browser

export interface BrowserOptions {
  /** What the microphone plays, from its opening on; then silence. Absent: beeps. */
  readonly sound?: Buffer;
  /** It asks for the microphone, and the answer is no unless the context allows it; otherwise no one is asked. */
  readonly asks?: boolean;
  /** What it is started through, such as the command that enters a namespace. */
  readonly through?: readonly string[];
}

/** One browser for all tests of a file: a fake microphone's recording belongs to the launch. */
export function sharedBrowser(options: BrowserOptions = {}): () => Browser {
  return shared(() => launch(options));
}

/** The caller disposes of it. */
export async function launch({
  sound,
  asks = false,
  through = [],
}: BrowserOptions): Promise<Browser & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-page-'));
  const recording = join(directory, 'microphone.wav');
  if (sound) await writeFile(recording, sound);
  const program = join(directory, 'chromium');
  const command = [...through, asks ? requireProgram('chromium') : windowless()];
  await writeFile(program, `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
  const args = [
    '--use-fake-device-for-media-stream',
    asks ? '--deny-permission-prompts' : '--use-fake-ui-for-media-stream',
    ...(sound ? [`--use-file-for-fake-audio-capture=${recording}%noloop`] : []),
    `--host-resolver-rules=MAP ${lanName} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`, // the network is cut
  ];
  const browser = await startChromium(args, program);
  if (sound) expect(existsSync(recording)).toBe(true); // else there would be silence, and no error
  return Object.assign(browser, {
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(directory, { recursive: true, force: true });
    },
  });
}

/** A name of the service under which browsers give no microphone. */
export const lanName = 'lan.test';

function shared<T extends AsyncDisposable>(start: () => Promise<T>): () => T {
  let one: T | undefined;
  beforeAll(async () => void (one = await start()));
  afterAll(() => one?.[Symbol.asyncDispose]());
  return () => one!;
}

// --------------------------------------------------------------------------------------------------------- page

export interface OpenOptions {
  readonly path?: string;
  /** Other than the service's own: `http://lan.test:PORT`. */
  readonly origin?: string;
  /** Default: the user allows the microphone. */
  readonly context?: BrowserContextOptions;
  /** Settings that were made in an earlier visit. */
  readonly settings?: object;
  /** A script that runs before those of the page. */
  readonly script?: string;
  /** A tab of its own, for what cannot be undone. */
  readonly isAlone?: boolean;
}

/** Opens the page. At the end of the test, nothing foreign has been asked for and nothing violated. */
export async function openPage(
  browser: Browser,
  service: Pick<TestService, 'url'>,
  options: OpenOptions = {},
): Promise<UserPage> {
  const { path = '/', origin = service.url, settings, script } = options;
  const tab = await takeTab(browser, options);
  const user = new UserPage(tab.page);
  const scripts = [
    ...(settings ? [`localStorage.setItem('parlance-settings', '${JSON.stringify(settings)}')`] : []),
    ...(script === undefined ? [] : [script]),
  ];
  const added = await Promise.all(scripts.map((content) => tab.page.context().addInitScript({ content })));
  onTestFinished(async () => {
    const { violations } = await user.observed();
    await Promise.all(added.map((one) => one.dispose()));
    await tab.leave();
    const foreign = tab.asked.filter((href) => !/^(blob|data):/.test(href) && new URL(href).origin !== origin);
    const forbidden = violations.filter((one) => !allowed(path, one));
    expect({ foreign, errors: tab.errors, forbidden }).toEqual({ foreign: [], errors: [], forbidden: [] });
  });
  await tab.page.goto(origin + path);
  return user;
}

/** A service and a browser for all tests of a file; `open` waits for the listings. */
export function sharedPage(options: BrowserOptions = {}) {
  const service = sharedService();
  const browser = sharedBrowser(options);
  const open = async (visit: OpenOptions = {}) => (await openPage(browser(), service(), visit)).ready();
  return { service, browser, open };
}

/** Scalar tries once whether it may use `eval`, and does without. */
const allowed = (path: string, violation: string): boolean => path === '/docs' && violation === 'script-src eval';

/** What a user does and sees. */
export class UserPage {
  readonly page: Page;
  readonly message: Locator;
  readonly status: Locator;
  readonly questions: Locator;
  readonly answers: Locator;
  readonly alert: Locator;
  readonly hint: Locator;

  constructor(page: Page) {
    this.page = page;
    this.message = page.getByRole('textbox', { name: 'Message', exact: true });
    this.status = page.getByRole('status');
    this.questions = page.locator('article.question .markdown');
    this.answers = page.locator('article.answer');
    this.alert = page.getByRole('alert');
    this.hint = page.locator('.hint');
  }

  /** The same page in another tab of this browser. */
  async newTab(): Promise<UserPage> {
    const tab = new UserPage(await this.page.context().newPage());
    await tab.page.goto(this.page.url());
    return tab;
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** The button that names the chat model, and opens the choice of models. */
  get models(): Locator {
    return this.button(/^Models/);
  }

  /** `Transcription`, `Chat` or `Voice`, once the choice of models is open. */
  picker(name: string): Locator {
    return this.page.getByRole('group', { name, exact: true }).getByRole('combobox', { name: 'Model', exact: true });
  }

  /** The three listings have come. */
  async ready(): Promise<this> {
    await expect.poll(() => this.models.textContent(), patience).not.toMatch(/(Loading …|API key required)$/);
    return this;
  }

  async choose(picker: string, model: string): Promise<void> {
    await this.ready();
    await this.models.click();
    await this.picker(picker).selectOption(model);
    await this.button('Done').click();
  }

  async send(text: string): Promise<void> {
    await this.ready();
    await this.message.fill(text);
    await this.button('Send').click();
  }

  /** Sends a message while a dialog covers the composer. */
  async sendBehind(text: string): Promise<void> {
    await this.page.evaluate(`{
      const message = document.getElementById('message');
      message.value = ${JSON.stringify(text)};
      message.dispatchEvent(new Event('input', { bubbles: true }));
      message.form.requestSubmit();
    }`);
  }

  /** The last answer, once it is complete. */
  async answer(): Promise<Locator> {
    const answer = this.answers.last();
    await answer.locator('> footer').waitFor();
    return answer;
  }

  /** Waits until the fake microphone has played `seconds` of its recording. */
  async listened(seconds: number): Promise<void> {
    await expect.poll(async () => (await this.observed()).listenedMs, patience).toBeGreaterThan(seconds * 1_000);
  }

  async upload(name: string, recording: Uint8Array): Promise<void> {
    await this.ready();
    const path = join(await temporaryDirectory(), name); // Chromium reads a file faster than a message of its size
    await writeFile(path, recording);
    await this.page.locator('input[type=file]').setInputFiles(path);
  }

  async hasFocus(locator: Locator): Promise<void> {
    await locator.and(this.page.locator(':focus')).waitFor();
  }

  /** Drops a file onto the page. */
  async drop(name: string, recording: Uint8Array): Promise<void> {
    await this.ready();
    const base64 = Buffer.from(recording).toString('base64');
    await this.page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.fromBase64('${base64}')], '${name}', { type: 'audio/wav' }));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }`);
  }

  async paste(name: string, recording: Uint8Array): Promise<void> {
    const base64 = Buffer.from(recording).toString('base64');
    await this.page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([Uint8Array.fromBase64('${base64}')], '${name}', { type: 'audio/wav' }));
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }`);
  }

  observed(): Promise<Observed> {
    return this.page.evaluate('window.observed');
  }

  /** What the page has observed, until it is so. */
  async sees(facts: Partial<Observed>): Promise<void> {
    await expect.poll(() => this.observed(), patience).toMatchObject(facts);
  }
}

/** For `script`: the page waits a tenth of the time before it asks again. */
export const fastTimers = `{
  const { setTimeout } = window;
  window.setTimeout = (call, ms) => setTimeout(call, ms / 10);
}`;

/** For `script`: timers of this many milliseconds never end, so that a busy machine is not too late for what they end. */
export const lasting = (endless: number) => `{
  const { setTimeout } = window;
  window.setTimeout = (call, ms, ...all) => setTimeout(call, ms === ${endless} ? 1_000_000 : ms, ...all);
}`;

/** For `script`: every sound lasts sixteen times as long. */
export const slowPlayback = `{
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    this.playbackRate = 0.0625;
    return play.call(this);
  };
}`;

/** The text of the composer, polled. */
export const draftOf = ({ message }: UserPage) => expect.poll(() => message.inputValue(), patience);

/** The text in the reader, polled. */
export const transcriptOf = ({ page }: UserPage) =>
  expect.poll(async () => (await page.locator('.segment > span').allTextContents()).join(' '), patience);

/** The result of a request to a store of the page's IndexedDB. The page shows a change before it is stored. */
export const stored = <Result>({ page }: UserPage, store: string, request: string) =>
  page.evaluate<Result>(`new Promise((resolve) => {
    const opening = indexedDB.open('parlance');
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('${store}', 'readwrite');
      const asked = transaction.objectStore('${store}').${request};
      transaction.oncomplete = () => { opening.result.close(); resolve(asked.result); };
    };
  })`);

/** The number of values in a store, polled. */
export const storedCount = (page: UserPage, store: string) =>
  expect.poll(() => stored(page, store, 'count()'), patience);

/** The contents of conversations and transcripts in the library, polled. */
export const storedContents = (page: UserPage) =>
  expect.poll(async () => JSON.stringify(await stored(page, 'contents', 'getAll()')), patience);

/** For `script`: what is dictated is uploaded. */
export const withoutSocket = 'delete globalThis.WebSocket;';

/** As it is drawn: Markdown breaks lines by elements. */
export const drawnTextOf = (locator: Locator) =>
  expect.poll(async () => (await locator.allInnerTexts()).join('\n'), patience);

export const textOf = (locator: Locator) =>
  expect.poll(async () => (await locator.allTextContents()).join('\n'), patience);

/**
 * A user who begins to speak with the first sample of the recording, however late the browser begins it: the model
 * expects each word in its half of a second, give or take 0.1 s. `hasSpoken` is set at the end.
 */
export const promptUser = (recording: Buffer): string => `{
  const recording = Uint8Array.fromBase64('${recording.toString('base64')}').buffer;
  const { start } = MediaRecorder.prototype;
  let context;
  navigator.mediaDevices.getUserMedia = async () => {
    context = new AudioContext();
    await context.suspend();
    const source = context.createBufferSource();
    source.buffer = await context.decodeAudioData(recording.slice());
    source.onended = () => (window.hasSpoken = true);
    const microphone = context.createMediaStreamDestination();
    source.connect(microphone);
    source.start();
    return microphone.stream;
  };
  MediaRecorder.prototype.start = function (...all) {
    start.apply(this, all);
    context.resume();
  };
}`;

/** The prompt user has said everything. */
export const spoken = ({ page }: UserPage) => expect.poll(() => page.evaluate('window.hasSpoken'), patience).toBe(true);
