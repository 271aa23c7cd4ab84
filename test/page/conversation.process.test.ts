/** The conversation: drawn, copied, saved, kept in this browser, and there again after a reload. */
import { readFile } from 'node:fs/promises';
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
  stored,
  textOf,
  UserPage,
  type OpenOptions,
} from './support.ts';

describeWith(programs, 'the conversation', () => {
  const browser = sharedBrowser();
  const service = sharedService();
  const open = async (options: OpenOptions = {}) => (await openPage(browser(), service(), options)).ready();
  const reload = async (page: UserPage) => {
    await page.page.reload();
    await page.ready();
  };

  /** The last message of a conversation is stored. */
  const isKept = (page: UserPage, text: string) =>
    expect
      .poll(async () => {
        const all = await stored<{ turns: object[] }[]>(page, 'contents', 'getAll()');
        return JSON.stringify(all.map(({ turns }) => turns.at(-1)));
      }, patience)
      .toContain(text);

  test('draws Markdown in questions, and fetches nothing for it', async () => {
    const page = await open();
    await page.send('# Title\n\n**bold** ![image](https://evil.example/?secret)\n<img src=x onerror="hacked = 1">');
    await page.answer();
    expect(await page.questions.locator('h3').innerText()).toBe('Title');
    expect(await page.questions.locator('strong').innerText()).toBe('bold');
    expect(await page.page.locator('img').count()).toBe(0);
    expect(await page.page.evaluate('typeof hacked')).toBe('undefined');
  });

  test('survives a reload as text, and continues', async () => {
    const page = await open();
    await page.send('think: quietly\nNow what?');
    await page.answer();
    await isKept(page, 'You said');
    await reload(page);
    const answer = await page.answer();
    expect(await page.questions.count()).toBe(1);
    expect(await answer.locator('summary').count()).toBe(0);
    const [request] = await Promise.all([page.page.waitForRequest(/chat\/stream$/), page.send('And then?')]);
    const { messages } = request.postDataJSON() as { messages: { content: string }[] };
    expect(messages.map(({ content }) => content)).toEqual(['think: quietly\nNow what?', expect.stringContaining('You said'), 'And then?']); // prettier-ignore
    await page.answer();
    expect(await page.answers.count()).toBe(2);
  });

  test('keeps a failure with its code and its request, and can be tried again', async () => {
    const page = await open();
    await page.send('fail: provider-error');
    await textOf(page.alert).toMatch(/Code provider-error: what to do.*Request [0-9a-f-]{36}/);
    await isKept(page, '"failed"');
    await reload(page);
    await textOf(page.alert).toMatch(/Code provider-error: what to do.*Request [0-9a-f-]{36}/);
    await page.button('Ask again for the answer to “fail: provider-error”').click();
    await page.answer();
    expect(await page.answers.count()).toBe(1);
  });

  test('links a failure to what the service itself serves', async () => {
    const page = await open();
    await page.send('fail: provider-error');
    const [docs] = await Promise.all([
      page.page.context().waitForEvent('page'),
      page.page.getByRole('link', { name: 'what to do' }).click(),
    ]);
    await docs.waitForLoadState();
    expect(docs.url()).toBe(`${service().url}/docs/errors#provider-error`);
    expect(await docs.locator('section:target h2').textContent()).toBe('provider-error');
    expect(await docs.evaluate('window.opener')).toBe(null);
  });

  const entriesOf = ({ page }: UserPage) => page.locator('.entries li > :first-child');

  test('stands in a list: opened, searched, deleted, restored', async () => {
    const page = await open({ script: lasting(10_000) }); // an Undo does not expire
    for (const text of ['Good morning', '<img src=x onerror="hacked = 1">']) {
      await page.send(text);
      await page.answer();
      await page.button('New conversation').click();
      expect(await page.questions.count()).toBe(0);
      await page.hasFocus(page.message);
    }
    await textOf(entriesOf(page)).toBe('<img src=x onerror="hacked = 1">\nGood morning');
    await page.page.getByRole('searchbox').fill('SAID morning');
    await textOf(entriesOf(page)).toBe('Good morning');
    await entriesOf(page).getByText('Good morning').click();
    await textOf(page.questions).toBe('Good morning');
    await page.send('And again');
    await page.answer();
    await page.page.getByRole('searchbox').fill('nothing like it');
    await page.page.getByText('Nothing found.').waitFor();
    await page.page.getByRole('searchbox').fill('');

    await page.button('Delete “Good morning”').press('Enter');
    await page.hasFocus(page.button('Undo'));
    expect(await page.questions.count()).toBe(0);
    await page.page.keyboard.press('Enter');
    await textOf(page.questions).toBe('Good morning\nAnd again');
    await isKept(page, 'You said: And again');
    await reload(page);
    await textOf(page.questions).toBe('Good morning\nAnd again');
    expect(await page.page.evaluate('typeof hacked')).toBe('undefined');
  });

  test('is behind one button on a phone', async () => {
    const page = await open({ context: { isMobile: true, hasTouch: true, viewport: { width: 390, height: 844 } } });
    await page.send('Good morning');
    await page.answer();
    await page.button('New').click();
    await page.button('Conversations').click();
    await entriesOf(page).getByText('Good morning').click();
    await textOf(page.questions).toBe('Good morning');
    expect(await page.page.getByRole('dialog').count()).toBe(0);
  });

  test('is exported, deleted and imported with everything else in one place', async () => {
    const page = await open();
    await page.send('Good morning');
    await page.answer();
    await isKept(page, 'You said: Good morning');
    await page.button('Options').click();
    await page.page.getByLabel('System prompt').fill('Be brief.');
    const [download] = await Promise.all([page.page.waitForEvent('download'), page.button('Export').click()]);
    await page.button('Delete everything').click();
    await page.button('Yes, delete').click();
    await textOf(page.page.getByRole('dialog').getByRole('status')).toBe('Everything is deleted.');
    expect(await page.page.getByLabel('System prompt').inputValue()).toBe('');
    expect(await page.page.evaluate('JSON.stringify(Object.values(localStorage))')).not.toContain('brief');
    const choose = (file: string) => page.page.getByRole('dialog').locator('input[type=file]').setInputFiles(file);
    await choose(import.meta.filename);
    await textOf(page.page.getByRole('dialog').getByRole('status')).toBe('This file is no export of this page.');
    await choose(await download.path());
    await textOf(page.page.getByRole('dialog').getByRole('status')).toBe('Imported: 1 conversation.');
    expect(await page.page.getByLabel('System prompt').inputValue()).toBe('Be brief.');
    await page.button('Done').click();
    await textOf(entriesOf(page)).toBe('Good morning');
    await entriesOf(page).getByText('Good morning').click();
    await textOf(page.answers.locator('.markdown')).toBe('You said: Good morning');
  });

  test('without any storage is as good as ever, and says once that nothing is kept', async () => {
    const script = `for (const name of ['sessionStorage', 'localStorage', 'indexedDB']) {
      Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError'); } });
    }`;
    const page = await open({ script, isAlone: true });
    const notice = page.page.getByText('This browser does not allow pages to keep anything');
    await notice.waitFor();
    await page.button('Dismiss').click();
    await page.send('Good morning');
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: Good morning');
    expect(await notice.count()).toBe(0);
  });

  test('is saved as Markdown', async () => {
    const page = await open();
    await page.send('Good **morning**');
    await page.answer();
    const [download] = await Promise.all([page.page.waitForEvent('download'), page.button('Save as Markdown').click()]);
    expect(download.suggestedFilename()).toMatch(/^conversation-\d{4}-\d\d-\d\d-\d\d-\d\d\.md$/);
    const text = await readFile(await download.path(), 'utf8');
    expect(text).toContain('## You\n\nGood **morning**\n\n## Answer (sandbox-chat)\n\nYou said: Good **morning**\n');
  });

  /** What was copied, as the user pastes it. */
  async function pasted(page: UserPage): Promise<string> {
    await page.message.fill('');
    await page.message.press('ControlOrMeta+v');
    await expect.poll(() => page.message.inputValue(), patience).not.toBe('');
    return page.message.inputValue();
  }

  test.each([
    ['', ''],
    ['without the clipboard API, as on http://192.168.0.5', `delete Navigator.prototype.clipboard;`],
  ])('has answers and code that can be copied %s', async (_where, script) => {
    const page = await open({ script: script + lasting(2_000), isAlone: script !== '' });
    await page.send('Good **morning**\n\n```sh\necho "$HOME"\n```\n\nand `more`');
    const answer = await page.answer();
    await answer.getByRole('button', { name: 'Copy the code' }).press('Enter');
    await textOf(page.status).toBe('Copied.');
    await textOf(answer.getByRole('button', { name: 'Copied the code' })).toBe('Copied');
    expect(await pasted(page)).toBe('echo "$HOME"');
    await answer.getByRole('button', { name: 'Copy the answer' }).click();
    await textOf(answer.getByRole('button', { name: 'Copied the answer' })).toBe('Copied');
    expect(await pasted(page)).toBe('You said: Good **morning**\n\n```sh\necho "$HOME"\n```\n\nand `more`');
  });

  test('scrolls below a header that stays', async () => {
    const page = await open();
    await page.send(`${'Line\n\n'.repeat(100)}end`);
    await page.answer();
    await drawnTextOf(page.answers.locator('.markdown')).toContain('end');
    const bar = page.models;
    for (const viewport of [
      { width: 1280, height: 720 },
      { width: 390, height: 844 },
    ]) {
      await page.page.setViewportSize(viewport);
      await expect.poll(() => page.page.evaluate('scrollY'), patience).toBeGreaterThan(500);
      const { y } = (await bar.boundingBox())!;
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThan(60);
    }
  });
});
