/** `models`: what can be had, and what is removed. */
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { catalog } from '../../engines/whisper-cli/catalog.ts';
import { acquireLock, lockOf } from '../../lib/file-lock.ts';
import { serve, status, type Answer } from '../engines/whisper-cli/support.ts';
import { runScript } from '../support/scripts.ts';
import { entriesOf, temporaryDirectory, writeFiles } from '../support/temporary.ts';

vi.setConfig({ testTimeout: 60_000 });

const script = 'src/bin/models.ts';

/** Settings whose models come from a server of the test; whisper-cli is said to be there. */
async function machine(...answers: readonly Answer[]) {
  const cwd = await temporaryDirectory();
  const site = await serve(...answers);
  const model = { use: 'whisper-cli', program: '/bin/true', mirror: site.url, keepLoaded: false, voiceActivity: 'off' };
  const engines = { local: { ...model, models: [{ id: 'mine', file: 'mine.bin' }] } };
  await writeFiles(cwd, { 'parlance.config.yaml': JSON.stringify({ engines }) });
  const env = { DATA_DIR: join(cwd, 'data') };
  const models = (...args: string[]) => runScript(script, args, { cwd, env });
  return { cwd, env, site, models, directory: join(cwd, 'data', 'models') };
}

describe('models', () => {
  it('lists the models by name, with size, license, state, what it takes to serve them and what they are good for', async () => {
    const { models } = await machine(status(404));
    const { code, stdout } = await models();
    expect(code).toBe(0);
    const small = stdout.split('\n').find((line) => line.startsWith('small '));
    expect(small).toMatch(
      /^small +Careful transcription \(Whisper small\) +489 MB +MIT +missing +needs a line in the settings file +\S.*\.$/,
    );
    expect(stdout).toMatch(/^large-v3-turbo /m);
  });

  it('shows how far a download of another process is', async () => {
    const { models, directory } = await machine(status(404));
    const { bytes = 0 } = catalog.find('small')?.files[0] ?? {};
    const path = join(directory, 'ggml-small.bin');
    await mkdir(directory, { recursive: true });
    await writeFile(`${path}.part`, '');
    await truncate(`${path}.part`, bytes / 2);
    using _lock = await acquireLock(lockOf(path), { signal: new AbortController().signal });
    expect((await models()).stdout).toMatch(/^small .* preparing 50 % {2}/m);
  });

  it('without a settings file they are served as local/NAME', async () => {
    const cwd = await temporaryDirectory();
    const { stdout } = await runScript(script, ['list'], { cwd, env: { DATA_DIR: join(cwd, 'data') } });
    expect(stdout).toMatch(/^base +.*missing +model local +\S/m);
    expect(stdout).toMatch(/^small +.*missing +model local\/small +\S/m);
    expect(stdout).toMatch(/^de_DE-mls-medium +.*missing +model local\/de_DE-mls-medium +Good for fast German, .*$/m);
    expect(stdout).toMatch(/^kokoro +.*387 MB +GPL-3\.0, Apache-2\.0 +missing +model local\/kokoro +Good for natural speech in six languages; .*$/m); // prettier-ignore
    expect(stdout).toMatch(/^qwen3-0\.6b +.*missing +model local-chat +\S/m);
  });

  it.each([['frobnicate'], ['pull', 'small'], ['remove'], ['list', 'small']])(
    '%s: wrong usage is exit code 2',
    async (...args) => {
      const { models, site } = await machine(status(404));
      const { code, stderr } = await models(...args);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: /^Usage: / });
      expect(site.requests).toEqual([]);
    },
  );
});

describe('models remove', () => {
  it('says that a model is not there, and what is no model', async () => {
    const { models } = await machine(status(404));
    expect(await models('remove', 'small')).toMatchObject({ code: 1, stderr: 'models: small is not installed\n' });
    expect(await models('remove', 'transcription')).toMatchObject({
      code: 1,
      stderr: /^models: there is no model "transcription"/,
    });
  });

  it("never removes an operator's file, and removes what a stopped download has left", async () => {
    const { models, directory } = await machine(status(404));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'ggml-small.bin'), 'mine');
    await writeFile(join(directory, 'ggml-tiny.bin.part'), 'half');
    const { code, stderr } = await models('remove', 'small', 'tiny');
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: /ggml-small\.bin was not downloaded by Parlance/ });
    expect(await entriesOf(directory)).toEqual(['ggml-small.bin']);
  });
});
