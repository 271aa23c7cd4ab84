/** The example client, as a clone runs it. (test/package runs it with the installed package.) */
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { runScript } from '../support/scripts.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

describe('the example client', () => {
  it('prints the transcript and the answer, and saves the clips', async () => {
    const cwd = await temporaryDirectory();
    await copyFile(spokenWords, join(cwd, 'memo.wav'));
    const { code, stdout } = await runScript('examples/talk.mjs', ['memo.wav'], {
      cwd,
      env: { PARLANCE_URL: service.url },
    });
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'You said (en): The sandbox has heard a recording.',
      'You said: The sandbox has heard a recording.',
    ]);
    expect(stdout).toContain('\nSaved: clip-0.mp3\n');
    expect((await readFile(join(cwd, 'clip-0.mp3'))).length).toBeGreaterThan(1_000);
    expect(code).toBe(0);
  });

  it('prints code, detail and request id of a problem', async () => {
    const cwd = await temporaryDirectory();
    await copyFile(join(import.meta.dirname, '../../README.md'), join(cwd, 'memo.wav'));
    const { code, stderr } = await runScript('examples/talk.mjs', [], { cwd, env: { PARLANCE_URL: service.url } });
    expect(stderr).toMatch(/^recording-not-accepted: .+ \(request [0-9a-f-]{36}\)$/m);
    expect(code).toBe(1);
  });
});
