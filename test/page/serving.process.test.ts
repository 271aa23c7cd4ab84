/** How the page comes: from the service alone, small, and once. */
import { expect, test } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { describeWith } from '../support/programs.ts';
import { openPage, programs, requestsOf, sharedBrowser, startPageService, UserPage } from './support.ts';

describeWith(programs, 'the page', () => {
  const browser = sharedBrowser();

  test('is at the address that the start prints, and needs nothing but the service', async () => {
    const service = await startChildService();
    expect(service.said.stderr).toContain(`(page: ${service.url}/, API reference: ${service.url}/docs)`);
    await (await openPage(browser(), service)).ready();
    const reference = await openPage(browser(), service, { path: '/docs' });
    await reference.page.getByRole('heading', { name: 'Parlance', level: 1 }).waitFor();
  });

  test('has at most 60 KB of script', async () => {
    const service = await startPageService();
    const page = await browser().newPage();
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().endsWith('.js')) return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(service.url);
    await new UserPage(page).ready();
    await page.close();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size);
    if (process.env.PAGE_TIMES) console.log('bytes', bytes);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(60 * 1_024);
  });

  test('comes once: the second visit asks whether it is still the same', async () => {
    const service = await startPageService();
    const context = await browser().newContext(); // without routes, which turn the cache off
    const page = await context.newPage();
    const served = () => requestsOf(service).filter(({ path }) => !String(path).startsWith('/api/'));
    await page.goto(service.url);
    await new UserPage(page).ready();
    expect(served().map(({ status }) => status)).not.toContain(304);
    const before = served().length;
    await page.goto('about:blank');
    await page.goto(service.url);
    await new UserPage(page).ready();
    expect(served().slice(before)).toMatchObject([{ path: '/', status: 304 }]);
    await context.close();
  });
});
