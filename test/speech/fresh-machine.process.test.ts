/** The first speech of a new user: the service starts without settings, and curl sends the request. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { wordsIn } from '../engines/espeak/support.ts';
import { startChildService } from '../support/child-service.ts';
import { describeWith, requireProgram, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** A service without settings, on a machine without programs but for this one; not even ffmpeg is there. */
async function start(program?: string) {
  const path = await temporaryDirectory();
  const calls = join(path, 'calls');
  await writeFile(calls, '');
  if (program !== undefined) {
    const script = `#!/bin/sh\necho "$*" >> ${calls}\nexec ${requireProgram(program)} "$@"\n`;
    await writeFile(join(path, program), script, { mode: 0o755 });
  }
  const service = await startChildService({ env: { PATH: path } });
  return { ...service, calls: () => readFile(calls, 'utf8') };
}

async function speak({ url, dir }: { readonly url: string; readonly dir: string }): Promise<Buffer> {
  const file = join(dir, 'hello.mp3');
  const json = ['-H', 'content-type: application/json', '-d', '{"text":"yes no hello"}'];
  await run(requireProgram('curl'), ['-sS', '--fail', ...json, `${url}/api/v1/tts`, '-o', file]);
  return readFile(file);
}

const ears = ['curl', 'ffmpeg', 'pocketsphinx_continuous'] as const;

describe('a fresh machine speaks exactly these words, in mp3', () => {
  async function recognize(program?: string): Promise<string> {
    const service = await start(program);
    const listing: unknown = await (await fetch(`${service.url}/api/v1/tts/models`)).json();
    expect(listing).toMatchObject({
      data: [
        { id: 'local-voice', local: true, code: 'model-file-missing' },
        { id: 'espeak', local: true, code: 'ready' },
      ],
      default: 'espeak',
    });
    const speech = await speak(service);
    expect(speech.toString('latin1', 0, 3), 'the mark of synthetic speech').toBe('ID3');
    expect(await wordsIn(speech)).toBe('yes no hello');
    return service.calls();
  }

  describeWith([...ears, 'espeak-ng'], 'with the program', () => {
    test('espeak-ng', async () => expect(await recognize('espeak-ng')).toContain('--stdin --stdout'));
  });

  describeWith(ears, 'with only npm', () => {
    test('the WASM package', async () => expect(await recognize()).toBe(''));
  });
});
