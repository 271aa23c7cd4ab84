/** Every settings file in the documents starts a service; a keys file is valid. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeysFile } from '../../src/keys/keys-file.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { blocksOf, home, pages } from './support/pages.ts';

/** No key of a provider is set: no model of theirs is asked for. */
const env = { SEARCH_KEY: 'k' };

const blocks = pages.flatMap((page) => blocksOf(page, 'yaml').map((config, number) => ({ page, number, config })));
const keysFiles = blocks.filter(({ config }) => config.startsWith('keys:'));
/** Those of other programs begin with their name. */
const files = blocks.filter(({ config }) => !/^(keys:|# (prometheus|keda)\.yml\n)/.test(config));

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

  it.each(keysFiles)('$page, block $number: keys', async ({ config }) => {
    const path = join(await temporaryDirectory(), 'keys.yaml');
    await writeFile(path, config);
    expect(await readKeysFile(path)).toHaveLength(1);
  });
});
