/** A fresh machine: a voice, and nothing else. What works is offered, and what does not says why. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openPage, programs, requestsOf, sharedBrowser, sharedService, textOf } from './support.ts';

describeWith(programs, 'the first minutes', () => {
  const browser = sharedBrowser();
  const service = sharedService({ config: 'engines: { espeak: { use: espeak } }' });
  const open = async (context: object = {}) => (await openPage(browser(), service(), { context })).ready();

  test('read aloud what is typed, without a chat model', async () => {
    const page = await open();
    await textOf(page.hint).toBe('Chat is not set up yet. Type some text and press “Read aloud”.');
    await page.message.fill(`# Good morning\n\n${'The *quick* brown fox jumps. '.repeat(8)}`);
    const [request] = await Promise.all([
      page.page.waitForRequest(/\/tts\/clips$/),
      page.button('Read aloud what you typed').click(),
    ]);
    expect(request.postDataJSON()).toMatchObject({ text: '# Good morning' }); // its first line; the service speaks no marks
    await page.sees({ isSounding: true });
    await page.page.getByRole('form', { name: 'Message' }).getByRole('button', { name: 'Stop' }).click();
    await page.sees({ isSounding: false });
    expect(await page.message.inputValue()).toContain('# Good morning');
    expect(requestsOf(service(), 'streamChat')).toEqual([]);
  });

  test('read aloud by the keyboard alone', async () => {
    const page = await open();
    await page.message.fill('Good morning. '.repeat(8));
    await page.button('Read aloud what you typed').focus();
    const [request] = await Promise.all([page.page.waitForRequest(/\/tts\/clips$/), page.page.keyboard.press('Enter')]);
    expect(request.postDataJSON()).toMatchObject({ text: 'Good morning.' });
    await page.sees({ isSounding: true });
    await page.page.keyboard.press('Escape');
    await page.sees({ isSounding: false });
  });

  test.each([
    ['under the mouse and by touch', 'click'],
    ['by the keyboard', 'Enter'],
  ])('say of everything disabled why, and what to do: %s', async (_what, press) => {
    const page = await open();
    const disabled = await page.page.locator('button[aria-disabled=true]').all();
    expect(disabled.length).toBeGreaterThanOrEqual(6);
    for (const button of disabled) {
      const reason = (await button.getAttribute('title'))!;
      expect(reason).toMatch(/“Get started”|[Tt]ype/);
      await page.hint.evaluate((hint: { textContent: string }) => hint.textContent);
      if (press === 'click') await button.click({ force: true });
      else await button.press(press);
      await textOf(page.hint).toBe(reason);
      await textOf(page.status).toBe(reason);
    }
    expect(await page.page.locator('button:disabled').count()).toBe(0);
    await page.message.fill('Good morning');
    await page.message.press('Enter'); // nothing answers
    await textOf(page.hint).toContain('Chat is not set up yet');
    expect(await page.message.inputValue()).toBe('Good morning');
  });
});
