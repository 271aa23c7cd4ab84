/** Every settings file in the documents starts a service. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/settings/load.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { blocksOf, home, pages } from './support/pages.ts';

/** No key of a provider is set: no model of theirs is asked for. */
const env = { SEARCH_KEY: 'k' };

const files = pages.flatMap((page) => blocksOf(page, 'yaml').map((config, number) => ({ page, number, config })));

describe('the settings in the documents', () => {
  it('are there', () => {
    expect(files.length).toBeGreaterThan(5);
  });

  it.each(files)('$page, block $number', async ({ config }) => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'settings.yaml');
    await writeFile(path, config);
    await copyFile(join(home, 'examples/pocketsphinx.ts'), join(directory, 'pocketsphinx.ts'));
    const settings = loadSettings({ ...env, PARLANCE_CONFIG: path });
    if (!settings.enginesAreListed) return; // servers of tools: connecting to them is not for this test
    await using service = await startTestService({ env: { ...env, PARLANCE_CONFIG: path } });
    expect((await service.api('/transcribe/models')).status).toBe(200);
  });
});
