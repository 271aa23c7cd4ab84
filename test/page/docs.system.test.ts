/** The API reference: complete, without the network, in the dark, too. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { openPage, patience, programs, sharedBrowser, sharedService, type UserPage } from './support.ts';

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { discriminator?: { mapping: object } }>> };
}

const contract = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../generated/${name}.json`, import.meta.url), 'utf8')) as Contract;

describeWith(programs, 'the API reference', () => {
  const service = sharedService();
  const browser = sharedBrowser();

  async function open(colorScheme: 'light' | 'dark' = 'light'): Promise<UserPage> {
    const context = { colorScheme, viewport: { width: 1280, height: 900 } };
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

  /** As the sidebar writes it. */
  const shortMethod = (method: string) => (method === 'delete' ? 'DEL' : method.toUpperCase());

  test('shows every operation of both documents, in the dark, too', async () => {
    const page = await open('dark');
    expect(await page.page.evaluate('document.body.classList.contains("dark-mode")')).toBe(true);
    const own = await declared('openapi');
    await expect.poll(() => operationsIn(page), patience).toEqual(own);

    await page.page.getByRole('complementary').getByRole('button', { name: 'Parlance', exact: true }).click();
    await page.page.getByRole('option', { name: 'OpenAI-compatible' }).click();
    const compatible = await declared('openapi-compat');
    expect(compatible).not.toEqual(own);
    await expect.poll(() => operationsIn(page), patience).toEqual(compatible);
  });

  test.each([
    ['Create a chat answer as an event stream', 'ChatEvent', 'chat.started'],
    ['Transcribe a recording as an event stream', 'TranscriptionEvent', 'transcription.'],
  ])('shows every event of “%s”', async (operation, schema, first) => {
    const page = await open();
    await expect.poll(() => operationsIn(page), patience).not.toEqual([]);
    await page.page.getByRole('link', { name: operation }).click();
    const region = page.page.getByRole('region', { name: operation });
    await region.getByRole('button', { name: /^200/ }).first().click();
    await region.getByRole('button', { name: `One of ${first}` }).click();
    const { schemas } = (await contract('openapi')).components;
    const types = Object.keys(schemas[schema]!.discriminator!.mapping);
    expect(types.length).toBeGreaterThan(2);
    const options = page.page.getByRole('option');
    await expect
      .poll(async () => (await options.allTextContents()).map((text) => text.split(' ')[0]!.trim()).sort(), patience)
      .toEqual([...types].sort());
  });
});
