/** One message: a question is edited, an answer regenerated, and the page follows the text that arrives. */
import type { Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import {
  drawnTextOf,
  lasting,
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  textOf,
  type OpenOptions,
  type UserPage,
} from './support.ts';

/** Answers a question with what the process emits under its text, and ends with an empty one. */
const teller = `
import { on } from 'node:events';
export default {
  contract: 1,
  name: 'teller',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [{ id: 'teller', local: true }],
    async *complete({ messages }, { signal }) {
      yield { type: 'step-started', step: 0 };
      let content = '';
      for await (const [delta] of on(process, messages.at(-1).content, { signal })) {
        if (delta === '') break;
        content += delta;
        yield { type: 'content-delta', step: 0, delta };
      }
      yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
    },
  }),
};
`;

const emitter = process as NodeJS.EventEmitter;
const isAnswered = (question: string, count: number) =>
  expect.poll(() => emitter.listenerCount(question), patience).toBe(count);

async function tell(question: string, text: string): Promise<void> {
  await isAnswered(question, 1);
  emitter.emit(question, text);
}

const lastingUndo = lasting(10_000);

const isQuestion = (request: Request) => request.url().endsWith('/chat/stream');

const messagesOf = (request: Request) =>
  (request.postDataJSON() as { messages: { content: string }[] }).messages.map(({ content }) => content);

const fieldOf = ({ page }: UserPage) => page.getByRole('textbox', { name: 'Your message' });

describeWith(programs, 'a message', () => {
  const browser = sharedBrowser();
  const service = sharedService({
    config: 'engines: { espeak: { use: espeak }, made-up: { use: sandbox }, teller: { use: ./teller.mjs } }',
    files: { 'teller.mjs': teller },
  });
  const open = async (options: OpenOptions = {}) => (await openPage(browser(), service(), options)).ready();
  const openTeller = () => open({ settings: { chatModel: 'teller' } });

  test('is edited and asked again in place of all that followed, which Undo brings back', async () => {
    const page = await open({ script: lastingUndo });
    for (const text of ['First', 'Second']) {
      await page.send(text);
      await textOf(page.answers.last().locator('.markdown')).toBe(`You said: ${text}`);
      await page.answer();
    }
    await page.button('Edit your message “First”').press('Enter');
    await page.hasFocus(fieldOf(page));
    await page.page.keyboard.type(' of all');
    const [request] = await Promise.all([page.page.waitForRequest(isQuestion), page.page.keyboard.press('Enter')]);
    expect(messagesOf(request)).toEqual(['First of all']);
    await page.hasFocus(page.message);
    await textOf(page.questions).toBe('First of all');
    await textOf(page.answers.locator('.markdown')).toBe('You said: First of all');

    await page.button('Undo').click();
    await textOf(page.questions).toBe('First\nSecond');
    await textOf(page.answers.locator('.markdown')).toBe('You said: First\nYou said: Second');
    expect(await page.button('Undo').count()).toBe(0);
  });

  test('is not sent empty, nor while a word is composed; Esc leaves it as it was, and stops nothing', async () => {
    const page = await openTeller();
    await page.send('An old question');
    await tell('An old question', 'Begun');
    await page.button('Edit your message “An old question”').click(); // which stops the answer
    await isAnswered('An old question', 0);
    await textOf(await page.answer()).toContain('Stopped.');
    const field = fieldOf(page);
    await field.fill('');
    await field.press('Enter');
    await textOf(page.hint).toBe('Type or say a message first.');
    await field.fill('changed');
    for (const key of ['Enter', 'Escape']) {
      await field.dispatchEvent('keydown', { key, isComposing: true, bubbles: true });
    }
    await page.send('A new question');
    await tell('A new question', 'Begun');
    await field.press('Escape');
    await page.hasFocus(page.button('Edit your message “An old question”'));
    await tell('A new question', ' and ended');
    await tell('A new question', '');
    await textOf(page.questions).toBe('An old question\nA new question');
    await textOf(page.answers.last().locator('.markdown')).toBe('Begun and ended');
  });

  test('is answered again once, however often the button is pressed, and the old answer falls silent', async () => {
    const page = await open({ script: lastingUndo });
    const question = 'word '.repeat(30).trim();
    await page.send(question);
    await page.answer();
    await page.button('Read aloud').click();
    await page.sees({ isSounding: true });
    const asked: Request[] = [];
    page.page.on('request', (request) => isQuestion(request) && asked.push(request));
    const regenerate = page.button('Regenerate the answer to “word word word word word word word word…”');
    await regenerate.evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
    await page.sees({ isSounding: false });
    await page.answer();
    await page.button('Undo').waitFor();
    expect(asked.map(messagesOf)).toEqual([[question]]);
    expect(await page.answers.count()).toBe(1);
  });

  test('whose answer stalls in the middle of a word can be stopped, and asked again', async () => {
    const page = await openTeller();
    await page.send('A long word');
    await tell('A long word', 'Incompre');
    const answer = page.answers.locator('.markdown');
    await textOf(answer).toContain('Incompr');
    await page.page.keyboard.press('Escape');
    await textOf(answer).toBe('Incompre');
    await isAnswered('A long word', 0);
    const again = page.button('Ask again for the answer to “A long word”');
    const [request] = await Promise.all([page.page.waitForRequest(isQuestion), again.click()]);
    expect(messagesOf(request)).toEqual(['A long word']);
    for (const piece of ['Incompre', 'hensi', 'ble', '']) await tell('A long word', piece);
    await page.button('Regenerate the answer to “A long word”').waitFor();
    await textOf(answer).toBe('Incomprehensible');
    expect(await answer.locator('p').evaluate(({ childNodes }: { childNodes: object[] }) => childNodes.length)).toBe(1);
  });

  test('ends the answer that is running, and is answered itself', async () => {
    const page = await openTeller();
    await page.send('An old question');
    await tell('An old question', 'Begun');
    await textOf(page.answers.locator('.markdown')).toContain('Beg');
    await page.message.fill('A new question');
    await page.button('Send').click();
    await isAnswered('An old question', 0);
    await tell('A new question', 'Answered');
    await tell('A new question', '');
    await textOf(page.answers.locator('.markdown')).toBe('Begun\nAnswered');
    await textOf(page.answers.first()).toContain('Stopped.');
    await page.message.fill('A third question');
    await page.message.press('Enter');
    await isAnswered('A third question', 1);
    await textOf(page.questions).toBe('An old question\nA new question\nA third question');
  });

  test('that arrives is followed, unless the user reads above; a button leads back to it', async () => {
    const page = await openTeller();
    const latest = page.button('Jump to the latest');
    const fromTop = () => page.page.evaluate<number>('scrollY');
    const fromEnd = () => page.page.evaluate<number>('document.documentElement.scrollHeight - innerHeight - scrollY');
    const isAtEnd = () => expect.poll(fromEnd, patience).toBeLessThan(2);
    const arrives = async (word: string) => {
      await tell('A story', `${word}\n\n`.repeat(50));
      await drawnTextOf(page.answers).toContain(word);
      await page.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    };
    await page.send('A story');
    await arrives('One');
    await isAtEnd();
    expect(await latest.count()).toBe(0);

    await page.page.evaluate('scrollBy(0, -40)');
    await latest.waitFor();
    const top = await fromTop();
    await arrives('Two');
    expect(await fromTop()).toBe(top);

    await latest.click();
    await isAtEnd();
    await page.hasFocus(page.message);
    expect(await latest.count()).toBe(0);
    await arrives('Three');
    await isAtEnd();
    await tell('A story', '');
    await page.answer();
  });

  test('shows its buttons under the mouse, with the focus, and always on a touch screen', async () => {
    const opacityOf = ({ page }: UserPage) =>
      expect.poll(
        () => page.evaluate<string>(`getComputedStyle(document.querySelector('.question > footer')).opacity`),
        patience,
      );
    const page = await open();
    await page.send('Good morning');
    await page.answer();
    await page.page.mouse.move(0, 0);
    await opacityOf(page).toBe('0');
    await page.questions.hover();
    await opacityOf(page).toBe('1');
    await page.page.mouse.move(0, 0);
    await opacityOf(page).toBe('0');
    await page.button('Copy your message “Good morning”').focus();
    await opacityOf(page).toBe('1');

    const phone = await open({ context: { isMobile: true, hasTouch: true, viewport: { width: 360, height: 740 } } });
    await phone.send('Good morning');
    await opacityOf(phone).toBe('1');
    await phone.answer();
  });
});
