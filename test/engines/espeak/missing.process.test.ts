/** espeak when something is missing or broken. */
import { chmod, cp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { startNode } from '../../support/processes.ts';
import { collect, startEspeak } from './support.ts';

const home = resolve(import.meta.dirname, '../../..');

describe('without program and package', () => {
  it('says how to install one, and rejects with model-unavailable', async () => {
    const directory = await temporaryDirectory();
    for (const part of ['engines/contract', 'engines/lib', 'engines/espeak', 'lib']) {
      await cp(join(home, part), join(directory, part), { recursive: true });
    }
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    const { firstLine } = startNode(`
      const { default: { create } } = await import(${JSON.stringify(join(directory, 'engines/espeak/index.ts'))});
      const context = { env: {}, cores: 2, formats: ['mp3'], queue: () => ({ full: false }), now: Date.now };
      const engine = await create({}, context);
      const call = { text: 'hello', model: 'espeak', format: 'mp3' };
      const refusal = await engine.synthesize(call, { signal: new AbortController().signal }).catch((error) => error);
      console.log(JSON.stringify([engine.models, refusal.code, await engine.inspect()]));`);
    const reason = expect.stringMatching(/apt-get install espeak-ng.*npm install/) as string;
    expect(JSON.parse(await firstLine)).toEqual([
      [
        {
          ...{ id: 'espeak', name: 'eSpeak NG', local: true, supports: ['speed'], voices: [], defaultVoice: 'en' },
          availability: { available: false, code: 'program-missing', reason },
        },
      ],
      'model-unavailable',
      [{ what: 'espeak-ng', ok: false, detail: reason, fix: 'apt-get install espeak-ng' }],
    ]);
  });

  it('there is no fallback for a configured program that does not exist', async () => {
    const { entry, say } = await startEspeak('package', 'program: /nowhere/espeak-ng');
    expect(entry.availability).toEqual({
      available: false,
      code: 'program-missing',
      reason: 'Program not found: /nowhere/espeak-ng.',
    });
    await expect(say({})).rejects.toMatchObject({ code: 'model-unavailable', message: entry.availability?.reason });
  });
});

describe('a program that misbehaves', () => {
  /** Lists one voice; `speak` is the shell command for a synthesis. */
  async function startProgram(speak: string) {
    const path = join(await temporaryDirectory(), 'espeak-ng');
    const table = 'Pty Language Age/Gender VoiceName File Other\\n 5  en  --/M  English  gmw/en\\n';
    await writeFile(path, `#!/bin/sh\nif [ "$1" = --voices ]; then printf '${table}'; exit; fi\n${speak}\n`);
    await chmod(path, 0o755);
    return startEspeak('package', `program: ${path}`);
  }
  const wav = `printf 'RIFF\\377\\377\\377\\177WAVEfmt \\020\\000\\000\\000\\001\\000\\001\\000\\042\\126\\000\\000\\104\\254\\000\\000\\002\\000\\020\\000data\\000\\000\\000\\000'`;

  it.each([
    ['fails immediately', 'echo secret >&2; exit 1'],
    ['writes no WAV', 'head -c 10000 /dev/zero'],
    ['is killed', 'kill -9 $$'],
    ['breaks off in the header', "printf 'RIFF'"],
  ])('that %s fails before any audio', async (_what, script) => {
    const { say } = await startProgram(script);
    const failure = { code: 'engine-failed', message: 'The speech program failed.' };
    await expect(say({})).rejects.toMatchObject(failure);
    await expect(say({ format: 'wav' })).rejects.toMatchObject(failure);
  });

  it.each([
    ['fails', 'exit 3'],
    ['is killed', 'kill -9 $$'],
  ])('that %s in the middle aborts the audio', async (_what, end) => {
    const { say } = await startProgram(`${wav}; head -c 1000000 /dev/zero; ${end}`);
    const speech = await say({});
    await expect(collect(speech)).rejects.toMatchObject({ code: 'engine-failed' });
    await expect(say({ format: 'wav' })).rejects.toMatchObject({ code: 'engine-failed' });
  });

  it('that never reads its text does not block the audio', async () => {
    const { say } = await startProgram(`${wav}; head -c 100000 /dev/zero`);
    expect(await collect(say({ text: 'x'.repeat(32_000) }))).not.toHaveLength(0);
  });
});
