/** The conversation: drawn, copied, saved, and there again after a reload of its tab, and only there. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import {
  drawnTextOf,
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  startPageService,
  textOf,
  UserPage,
  type OpenOptions,
} from './support.ts';

const name = 'parlance-conversation';

/** An answer in one piece, as the service would send it. */
const streamOf = (text: string) =>
  [
    { type: 'chat.started', id: 'r', model: 'm' },
    { type: 'step.started', step: 0 },
    { type: 'content.delta', step: 0, delta: text },
    {
      type: 'chat.completed',
      result: { content: text, model: 'm', finish_reason: 'stop', reasoning: null, usage: null },
    },
  ]
    .map((event, seq) => `id: ${seq}\nevent: ${event.type}\ndata: ${JSON.stringify({ ...event, seq })}\n\n`)
    .join('');

describeWith(programs, 'the conversation', () => {
  const browser = sharedBrowser();
  const service = sharedService();
  const open = async (options: OpenOptions = {}) => (await openPage(browser(), service(), options)).ready();
  const stored = ({ page }: UserPage) => page.evaluate<string | null>(`sessionStorage.getItem('${name}')`);
  const reload = async (page: UserPage) => {
    await page.page.reload();
    await page.ready();
  };

  test('draws Markdown in questions, and fetches nothing for it', async () => {
    const page = await open();
    await page.send('# Title\n\n**bold** ![image](https://evil.example/?secret)\n<img src=x onerror="hacked = 1">');
    await page.answer();
    expect(await page.questions.locator('h3').innerText()).toBe('Title');
    expect(await page.questions.locator('strong').innerText()).toBe('bold');
    expect(await page.page.locator('img').count()).toBe(0);
    expect(await page.page.evaluate('typeof hacked')).toBe('undefined');
  });

  test('survives a reload as text, and goes on', async () => {
    const page = await open();
    await page.send('think: quietly\nNow what?');
    await page.answer();
    await reload(page);
    expect(await page.questions.count()).toBe(1);
    const answer = await page.answer();
    expect(await answer.locator('summary').count()).toBe(0);
    const [request] = await Promise.all([page.page.waitForRequest(/chat\/stream$/), page.send('And then?')]);
    const { messages } = request.postDataJSON() as { messages: { content: string }[] };
    expect(messages.map(({ content }) => content)).toEqual(['think: quietly\nNow what?', expect.stringContaining('You said'), 'And then?']); // prettier-ignore
    await page.answer();
    expect(await page.answers.count()).toBe(2);
  });

  test('of a reload in the middle of an answer keeps what has come, as stopped', async () => {
    const page = await open();
    await page.choose('Chat', 'sandbox-chat-slow');
    await page.send('one two three four five six seven eight nine ten');
    await textOf(page.answers.locator('.markdown')).toContain('You');
    await reload(page);
    await textOf(await page.answer()).toContain('Stopped.');
    await textOf(page.answers.locator('.markdown')).toContain('You');
  });

  test('keeps a failure with its code and its request, and can be tried again', async () => {
    const page = await open();
    await page.send('fail: provider-error');
    await textOf(page.alert).toMatch(/Code provider-error: what to do.*Request [0-9a-f-]{36}/);
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

  /** A page whose conversation has just been replaced by a new one, and whose clock the test can put forward. */
  const startAnew = async () => {
    const page = await open({ isAlone: true });
    await page.send('Good morning');
    await page.answer();
    await expect.poll(() => stored(page), patience).toContain('Good morning');
    await page.page.clock.install();
    await page.button('New conversation').click();
    await textOf(page.status).toBe('Conversation deleted.');
    expect(await page.questions.count()).toBe(0);
    return page;
  };

  test('comes back with Undo, and goes on', async () => {
    const page = await startAnew();
    await page.button('Undo').click();
    await textOf(page.questions).toBe('Good morning');
    expect(await page.button('Undo').count()).toBe(0);
    await page.send('And again');
    await page.answer();
    await textOf(page.questions).toBe('Good morning\nAnd again');
  });

  test('comes back with a reload, as long as there is Undo', async () => {
    const page = await startAnew();
    await reload(page);
    await textOf(page.questions).toBe('Good morning');
  });

  test('is gone when a new conversation has begun', async () => {
    const page = await startAnew();
    await page.send('Something else');
    await page.answer();
    expect(await page.button('Undo').count()).toBe(0);
    await expect.poll(() => stored(page), patience).toContain('Something else');
    expect(await stored(page)).not.toContain('Good morning');
  });

  test('is gone ten seconds after a new conversation', async () => {
    const page = await startAnew();
    await page.page.clock.fastForward(9_000);
    expect(await page.button('Undo').count()).toBe(1);
    await page.page.clock.fastForward(1_100);
    await expect.poll(() => page.button('Undo').count(), patience).toBe(0);
    await expect.poll(() => stored(page), patience).toBe(null);
    await reload(page);
    expect(await page.questions.count()).toBe(0);
  });

  test('belongs to its tab: a second one begins its own, and a copy goes its own way', async () => {
    const page = await open();
    await page.send('Good morning');
    await page.answer();
    const other = await page.newTab();
    await other.ready();
    expect(await other.questions.count()).toBe(0);

    const [popup] = await Promise.all([
      page.page.context().waitForEvent('page'),
      page.page.evaluate('void window.open(location.href)'), // the browser copies sessionStorage
    ]);
    const copy = await new UserPage(popup).ready();
    await textOf(copy.questions).toBe('Good morning');
    await copy.button('New conversation').click();
    await reload(page);
    await textOf(page.questions).toBe('Good morning');
  });

  test('is gone with the key that it was held with', async () => {
    const locked = await startPageService({ env: { API_KEYS: 'first,second' } });
    const page = await openPage(browser(), locked);
    const enter = async (key: string) => {
      await page.page.getByLabel('API key', { exact: true }).fill(key);
      await page.button('Use this key').click();
      await page.ready();
    };
    await enter('first');
    await page.send('Good morning');
    await page.answer();
    await page.button('Options').click();
    await page.button('Forget the key').click();
    await page.page.getByLabel('API key', { exact: true }).waitFor();
    expect(await page.questions.count()).toBe(0);
    expect(await stored(page)).toBe(null);

    await enter('first');
    await page.send('Good night');
    await page.answer();
    await page.page.evaluate(`sessionStorage.setItem('parlance-key', 'second')`); // as another tab does on this device
    await reload(page);
    expect(await page.questions.count()).toBe(0);
    expect(await stored(page)).toBe(null);
  });

  test('of 1 MB keeps the tab within its bound, and the service its requests', async () => {
    const page = await open();
    const text = `# Long\n\n${'A line of **words** and `code`.\n'.repeat(20_000)}`; // 1.4 MB, with two bytes for a character
    await page.page.route('**/chat/stream', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: streamOf(text) }),
    );
    await page.send('Write a lot.');
    await page.answer();
    await page.send('And more.');
    await expect.poll(() => page.answers.count(), patience).toBe(2);
    await page.answer();
    const kept = (await stored(page))!;
    expect(kept.length * 2).toBeLessThanOrEqual(1_048_576);
    expect(kept).toContain('# Long');
    await reload(page);
    await textOf(page.answers.last().locator('.markdown')).toContain('A line of words');
    expect(await page.button(/^Regenerate/).count()).toBe(0); // its question had no room
  });

  test('in a full sessionStorage is as good as ever, and gone with the reload', async () => {
    const page = await open();
    await page.page.evaluate(`{
      let piece = 'x'.repeat(1_048_576);
      for (let i = 0; piece !== ''; i++) {
        try { sessionStorage.setItem('filler' + i, piece); } catch { piece = piece.slice(0, piece.length / 2); }
      }
    }`);
    await page.send('Good morning');
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: Good morning');
    await reload(page);
    expect(await page.questions.count()).toBe(0);
  });

  test('without any storage is as good as ever', async () => {
    const script = `for (const name of ['sessionStorage', 'localStorage']) {
      Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError'); } });
    }`;
    const page = await open({ script, isAlone: true });
    await page.send('Good morning');
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: Good morning');
  });

  test('is saved as Markdown', async () => {
    const page = await open();
    await page.send('Good **morning**');
    await page.answer();
    const [download] = await Promise.all([page.page.waitForEvent('download'), page.button('Save').click()]);
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
    const page = await open({ script, isAlone: script !== '' });
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
    const bar = page.button('New conversation');
    for (const viewport of [
      { width: 1280, height: 720 },
      { width: 390, height: 844 },
    ]) {
      await page.page.setViewportSize(viewport);
      expect(await page.page.evaluate('scrollY')).toBeGreaterThan(500);
      const { y } = (await bar.boundingBox())!;
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThan(60);
    }
    await bar.click();
    expect(await page.questions.count()).toBe(0);
  });
});
