/** Answers that are read aloud while they are written. The provider writes what a test tells it to. */
import type { Page, Request } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { chunk, framed, says, stallsAfter, streams } from '../engines/llm-agent/support.ts';
import { describeWith } from '../support/programs.ts';
import { openProvider, type Behavior } from '../support/provider.ts';
import {
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  startPageService,
  textOf,
  type UserPage,
} from './support.ts';

const provider = await openProvider();
afterAll(() => provider[Symbol.asyncDispose]());

const config = `
engines:
  mind: { use: llm-agent, baseUrl: '${provider.baseUrl}', local: true, models: [scripted] }
  espeak: { use: espeak }
`;

/** An answer that begins like this, and stays open. */
const begins = (text: string) => stallsAfter(chunk({ content: text }));

/** The open answer continues. */
function continueWith(text: string): void {
  provider.calls.at(-1)!.socket.write(framed(`data: ${JSON.stringify(chunk({ content: text }))}\n\n`));
}

function finish(): void {
  const { socket } = provider.calls.at(-1)!;
  socket.write(framed(`data: ${JSON.stringify(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n`));
  socket.write('0\r\n\r\n');
}

interface ClipRequest {
  readonly text: string;
  readonly voice_id?: string;
}

const isClipRequest = /\/tts\/clips\b(?!\/)/;
const isSound = /\/tts\/clips\/./;

const idOf = (url: string) => url.split('/').at(-1)!;

/** What the page has asked the service to say, and the clips that it has begun to load, each in its order. */
function watch({ page }: UserPage) {
  const asked: ClipRequest[] = [];
  const made: string[] = [];
  const loaded = new Set<string>();
  const pending = new Set<Request>();
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') pending.add(request);
    if (isClipRequest.test(request.url())) asked.push(request.postDataJSON() as ClipRequest);
    if (isSound.test(request.url()) && request.method() === 'GET') loaded.add(idOf(request.url()));
  });
  page.on('response', (response) => {
    const { location } = response.headers();
    if (isClipRequest.test(response.url()) && location !== undefined) made.push(idOf(location));
  });
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  return { asked, made, loaded, pending, texts: () => asked.map(({ text }) => text) };
}

/**
 * Asks in the page, and presses Escape as soon as the next stage is reached: the question is sent, a piece is asked for,
 * its clip is there, is loaded, sounds. Resolves with the interruptions after which there was sound.
 */
const interrupt = (count: number) => `(async () => {
  const { fetch } = window;
  const { play } = HTMLMediaElement.prototype;
  let reached;
  const happens = (stage) => reached.stage === stage && reached.resolve();
  window.fetch = async (request) => {
    const isClip = request.url.endsWith('/clips');
    happens(isClip ? 'asked' : 'sent');
    const response = await fetch(request);
    if (isClip) happens('made');
    return response;
  };
  HTMLMediaElement.prototype.play = function () {
    if (!this.src.startsWith('blob:')) {
      happens('loaded');
      this.addEventListener('playing', () => happens('sounds'), { once: true });
    }
    return play.call(this);
  };
  const sounding = [];
  const field = document.querySelector('textarea');
  for (let at = 0; at < ${count}; at += 1) {
    reached = { ...Promise.withResolvers(), stage: ['sent', 'asked', 'made', 'loaded', 'sounds'][at % 5] };
    field.value = 'Number ' + at;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.form.requestSubmit();
    await reached.promise;
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    if (observed.isSounding) sounding.push(at);
  }
  return sounding;
})()`;

describeWith(programs, 'an answer that is read aloud', () => {
  const browser = sharedBrowser();
  const service = sharedService({ config });

  async function open(answers: readonly Behavior[], at = service()) {
    provider.behave(...answers);
    const settings = { readAloud: true, voice: 'de' };
    const page = await (await openPage(browser(), at, { settings })).ready();
    return { page, ...watch(page) };
  }

  /** Everything has been played or dropped. A clip that is still being asked for would appear later. */
  async function nothingIsLeft({ pending }: Pick<ReturnType<typeof watch>, 'pending'>): Promise<void> {
    await expect.poll(() => [...pending].map((request) => request.url()), patience).toEqual([]);
    await expect.poll(() => service().leftovers(), patience).toEqual([]);
  }

  test('sounds with its first sentence while it is written, and continues in order, in the voice that was chosen', async () => {
    const { page, asked, made, loaded, texts, pending } = await open([begins('This is the first. It')]);
    await Promise.all([page.page.waitForRequest(isSound), page.send('Go on.')]);
    expect(texts()).toEqual(['This is the first.']);
    expect(await page.answers.getAttribute('aria-busy')).toBe('true');

    continueWith(' is certainly not the last one. And now code:\n\n```sh\nrm -r .\n```\n\nThis is the end.');
    finish();
    await page.answer();
    await expect.poll(texts, patience).toHaveLength(3);
    await nothingIsLeft({ pending });
    expect(texts()).toEqual([
      'This is the first.',
      'It is certainly not the last one.',
      'And now code:\n\n\n\nThis is the end.',
    ]);
    expect(asked.map(({ voice_id }) => voice_id)).toEqual(['de', 'de', 'de']);
    expect([...loaded]).toEqual(made);
    await page.button('Read aloud').waitFor();
    expect(texts()).toHaveLength(3); // it is not read again
    expect((await page.observed()).announcements).toEqual(['Answering.']); // a screen reader does not talk over it
  });

  describe('ends with one sentence, and the answer continues', () => {
    const refusal = {
      type: 'about:blank',
      title: 'No',
      status: 502,
      code: 'provider-error',
      detail: 'It has no voice.',
    };
    test.each([
      [
        'when a piece is refused',
        'It has no voice.',
        (page: Page) =>
          page.route(isClipRequest, (route) =>
            route.request().postData()?.includes('first')
              ? route.continue()
              : route.fulfill({ status: 502, contentType: 'application/problem+json', body: JSON.stringify(refusal) }),
          ),
      ],
      [
        'when a piece breaks',
        'The clip could not be played.',
        (page: Page) =>
          page.route(isSound, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue())),
      ],
    ])('%s', async (_when, sentence, prepare) => {
      const { page, texts, pending } = await open([
        begins('This is the first. It is the second one, and a bit longer. And'),
      ]);
      await prepare(page.page);
      await page.send('Go on.');
      await textOf(page.alert).toContain(sentence);
      await expect.poll(texts, patience).toHaveLength(2);
      continueWith(' it goes on, much longer than before. And on and on and on, it does.');
      finish();
      await textOf((await page.answer()).locator('.markdown')).toMatch(/And it goes on.*it does\.$/);
      expect(await page.alert.count()).toBe(1);
      expect(texts()).toHaveLength(2);
      await nothingIsLeft({ pending });
    });
  });

  test('asks for the key that a piece is refused for', async () => {
    const { page } = await open([begins('This is the first. It')]);
    const refusal = { type: 'about:blank', title: 'No', status: 401, code: 'key-required', detail: 'No key.' };
    await page.page.route(isClipRequest, (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: JSON.stringify(refusal) }),
    );
    await page.send('Go on.');
    await page.page.getByRole('dialog', { name: 'API key required' }).waitFor();
  });

  test('is not read on when the model itself reads a text aloud', async () => {
    const words = chunk({ content: 'I will read it.' });
    const call = {
      index: 0,
      id: 'c',
      type: 'function',
      function: { name: 'read_aloud', arguments: '{"text":"A poem."}' },
    };
    const step = streams(words, chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'));
    const { page, texts, made, loaded } = await open(
      [step, says('Now it is read. Is it?')],
      await startPageService({ config }),
    );
    await page.send('Read it to me.');
    await textOf((await page.answer()).locator('.markdown')).toContain('Now it is read.');
    const clipsOfModel = () => [...loaded].filter((id) => !made.includes(id));
    await expect.poll(clipsOfModel, patience).toHaveLength(1);
    expect(texts()).toEqual(['I will read it.']);
  });

  test('is silent if it is only code, and its button says so', async () => {
    const { page, texts } = await open([says('```js\nlet a;\n```')]);
    await page.send('Go on.');
    await page.answer();
    expect(texts()).toEqual([]);
    await textOf(page.status).toBe('Answer: let a;');
    await page.button('Read aloud').click();
    await textOf(page.alert).toContain('There is nothing to read aloud');
    expect(texts()).toEqual([]);
  });

  test('is silent after its switch is turned off, and continues', async () => {
    const { page, texts, pending } = await open([begins('This is the first. It')]);
    await Promise.all([page.page.waitForRequest(isSound), page.send('Go on.')]);
    await page.page.getByRole('switch', { name: 'Read answers aloud' }).click();
    continueWith(' is the second. It is the third.');
    finish();
    await textOf((await page.answer()).locator('.markdown')).toContain('third');
    await textOf(page.status).toContain('Answer: This is the first.');
    expect(texts()).toHaveLength(1);
    await page.sees({ isSounding: false });
    await nothingIsLeft({ pending });
  });

  test('leaves no sound, request or clip after 20 interruptions', async () => {
    const { page, pending } = await open([
      begins('This is the first. This is the second one, and a little longer. And this'),
    ]);
    await page.message.focus();
    const sounding = await page.page.evaluate<number[]>(interrupt(20));
    expect(sounding).toEqual([]);
    expect(await page.answers.filter({ hasText: 'Stopped.' }).count()).toBe(20);
    await nothingIsLeft({ pending });
    await Promise.all(provider.calls.map(({ gone }) => gone));
    await page.sees({ isSounding: false });
  });
});
