/** The API reference: complete, without the network, in the dark, too. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { faultsOf } from './axe.ts';
import { openPage, patience, programs, sharedBrowser, sharedService, type UserPage } from './support.ts';

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { discriminator?: { mapping: object } }>> };
}

/** Its colors are set in page/docs.css, names of its buttons in page/docs.ts. */
const markupOfScalar = /^(label-content-name-mismatch|landmark-unique): /;

const contract = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}.json`, import.meta.url), 'utf8')) as Contract;

describeWith(programs, 'the API reference', () => {
  const service = sharedService();
  const browser = sharedBrowser();

  async function open(): Promise<UserPage> {
    const context = { colorScheme: 'dark', viewport: { width: 1280, height: 900 } } as const;
    const page = await openPage(browser(), service(), { path: '/docs', context });
    await page.page.getByRole('heading', { name: 'Parlance', level: 1 }).waitFor();
    return page;
  }

  /** The operations of the sidebar, as `POST Create a chat answer`. */
  async function operationsIn({ page }: UserPage): Promise<readonly string[]> {
    const sidebar = page.getByRole('complementary');
    const closed = sidebar.getByRole('button', { name: /^Open Group - (?!Models)/ });
    while ((await closed.count()) > 0) await closed.first().click();
    const texts = await sidebar.getByRole('link', { name: /HTTP Method/i }).allTextContents();
    return texts.map((text) => text.replace(/(.*?)\s*HTTP Method:\s*(\w+)\s*$/is, '$2 $1').trim()).sort();
  }

  async function declared(name: string): Promise<readonly string[]> {
    const { paths } = await contract(name);
    return Object.values(paths)
      .flatMap((operations) => Object.entries(operations))
      .flatMap(([method, { summary }]) => (summary === undefined ? [] : [`${shortMethod(method)} ${summary}`]))
      .sort();
  }

  const faultsIn = async (page: UserPage) => (await faultsOf(page)).filter((fault) => !markupOfScalar.test(fault));

  /** As the sidebar writes it. */
  const shortMethod = (method: string) => (method === 'delete' ? 'DEL' : method.toUpperCase());

  /** As the response lists them, and as the contract does. */
  async function eventsOf(page: UserPage, operation: string, schema: string) {
    await page.page.getByRole('link', { name: operation }).click();
    const region = page.page.getByRole('region', { name: operation });
    await region.getByRole('button', { name: /^200/ }).first().click();
    const { schemas } = (await contract('openapi')).components;
    const types = Object.keys(schemas[schema]!.discriminator!.mapping);
    await region.getByRole('button', { name: `One of ${types[0]!.split('.')[0]!}.` }).click();
    const options = page.page.getByRole('option');
    await expect.poll(() => options.count(), patience).toBe(types.length);
    const shown = (await options.allTextContents()).map((text) => text.split(' ')[0]!.trim());
    await page.page.keyboard.press('Escape');
    return { shown: shown.sort(), types: types.sort() };
  }

  test('shows every operation of both documents and every event of a stream, in the dark, too', async () => {
    const page = await open();
    expect(await page.page.evaluate('document.body.classList.contains("dark-mode")')).toBe(true);
    const own = await declared('openapi');
    await expect.poll(() => operationsIn(page), patience).toEqual(own);
    const { shown, types } = await eventsOf(page, 'Create a chat answer as an event stream', 'ChatEvent');
    expect(types.length).toBeGreaterThan(2);
    expect(shown).toEqual(types);
    expect(await faultsIn(page)).toEqual([]);

    await page.page.getByRole('complementary').getByRole('button', { name: 'Parlance', exact: true }).click();
    await page.page.getByRole('option', { name: 'OpenAI-compatible' }).click();
    const compatible = await declared('openapi-compat');
    expect(compatible).not.toEqual(own);
    await expect.poll(() => operationsIn(page), patience).toEqual(compatible);
  });
});
