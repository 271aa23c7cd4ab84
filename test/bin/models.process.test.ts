/** `models`: what can be had, and what is said of a download that breaks, is stopped or is killed. */
import { spawn } from 'node:child_process';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve, status, type Answer } from '../engines/whisper-cli/support.ts';
import { compileCache, tiedToUs } from '../support/child-service.ts';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

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

const bytesSent = 2 ** 20;

/** Sends a part of a larger file, and no more. */
const begins: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': 400 * 2 ** 20 });
  response.write(Buffer.alloc(bytesSent));
};

/** Runs until the download has begun; then `signal` is sent. */
async function interrupted(signal: NodeJS.Signals, { cwd, env, directory }: Awaited<ReturnType<typeof machine>>) {
  const place = join(import.meta.dirname, '../..', script);
  const [program, ...args] = tiedToUs(process.execPath, '--conditions=parlance-source', place, 'pull', 'small');
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, {
    cwd,
    env: { PATH, HOME, ...compileCache, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // the signal is for the command alone, or for its whole group
  });
  const isOver = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  const stderr = text(child.stderr);
  const isStored = async () => expect((await stat(join(directory, 'ggml-small.bin.part'))).size).toBe(bytesSent);
  await vi.waitFor(isStored, { timeout: 30_000 });
  process.kill(-child.pid!, signal);
  return { code: await isOver, stderr: await stderr };
}

describe('models', () => {
  it('lists the models by name, with size, licence, state and what it takes to serve them', async () => {
    const { models } = await machine(status(404));
    const { code, stdout } = await models();
    expect(code).toBe(0);
    const small = stdout.split('\n').find((line) => line.startsWith('small '));
    expect(small).toMatch(/^small +Whisper small +466 MiB +MIT +missing +needs a line in the settings file$/);
    expect(stdout).toMatch(/^large-v3-turbo /m);
  });

  it('without a settings file they are served as local/NAME', async () => {
    const cwd = await temporaryDirectory();
    const { stdout } = await runScript(script, ['list'], { cwd, env: { DATA_DIR: join(cwd, 'data') } });
    expect(stdout).toMatch(/^base +.*missing +model local$/m);
    expect(stdout).toMatch(/^small +.*missing +model local\/small$/m);
    expect(stdout).toMatch(/^de_DE-mls-medium +.*missing +model local\/de_DE-mls-medium$/m);
    expect(stdout).toMatch(/^qwen3-0\.6b +.*missing +model local-chat$/m);
  });

  it.each([['frobnicate'], ['pull'], ['remove'], ['list', 'small']])(
    '%s: wrong usage is exit code 2',
    async (...args) => {
      const { models, site } = await machine(status(404));
      const { code, stderr } = await models(...args);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: /^Usage: / });
      expect(site.requests).toEqual([]);
    },
  );

  it.each(['smal', '__proto__', '../../etc/passwd', 'http://127.0.0.1/x', 'x'.repeat(5_000)])(
    'an unknown name is an error: %.30s',
    async (name) => {
      const { models, site } = await machine(status(404));
      const { code, stderr } = await models('pull', name);
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: /^models: there is no "/ });
      expect(stderr.length).toBeLessThan(600);
      expect(site.requests).toEqual([]);
    },
  );
});

describe('models pull', () => {
  it('a broken download is said, with the exit code 1, and leaves nothing', async () => {
    const { models, directory } = await machine(status(404));
    const { code, stderr } = await models('pull', 'small');
    expect(code).toBe(1);
    expect(stderr).toContain('the server answered 404');
    expect(await readdir(directory)).toEqual([]);
  });

  it('Ctrl-C stops it, and the next one resumes', async () => {
    const setup = await machine(begins, status(404));
    const { code, stderr } = await interrupted('SIGINT', setup);
    expect({ code, stderr }).toMatchObject({ code: 130, stderr: /Interrupted\. Not finished: .*ggml-small\.bin/ });
    await setup.models('pull', 'small');
    expect(setup.site.requests.at(-1)?.headers.range).toBe(`bytes=${bytesSent}-`);
  });

  it('resumes after SIGKILL', async () => {
    const setup = await machine(begins, status(404));
    await interrupted('SIGKILL', setup);
    await setup.models('pull', 'small');
    expect(setup.site.requests.at(-1)?.headers.range).toBe(`bytes=${bytesSent}-`);
  });
});

describe('models remove', () => {
  it('says that a model is not there, and what is no model', async () => {
    const { models } = await machine(status(404));
    expect(await models('remove', 'small')).toMatchObject({ code: 1, stderr: 'models: small is not there\n' });
    expect(await models('remove', 'transcription')).toMatchObject({ code: 1, stderr: /it is no single model/ });
  });

  it("never removes an operator's file, and removes what a stopped download has left", async () => {
    const { models, directory } = await machine(status(404));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'ggml-small.bin'), 'mine');
    await writeFile(join(directory, 'ggml-tiny.bin.part'), 'half');
    const { code, stderr } = await models('remove', 'small', 'tiny');
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: /ggml-small\.bin was not downloaded by Parlance/ });
    expect(await readdir(directory)).toEqual(['ggml-small.bin']);
  });
});
