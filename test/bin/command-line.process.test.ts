/** The options of the commands that read settings. */
import { chmod, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startChildService, type ProcessOptions } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { runScript } from '../support/scripts.ts';
import { entriesOf, temporaryDirectory, writeFiles } from '../support/temporary.ts';

const sandbox = { PARLANCE_SANDBOX: '1' };

it('a wrong option ends the command with 2 and its usage', async () => {
  const { code, stdout, stderr } = await runScript('src/bin/setup.ts', ['--port', '1'], { cwd: import.meta.dirname });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const usage = 'Usage: npm run setup -- [options] [NAME ...]';
  expect(stderr).toMatch(`unknown option "--port"\n\n${usage}\n\nDownloads and builds`);
});

it('--help prints the usage and starts nothing', async () => {
  const { code, stdout } = await runScript('src/bin/start.ts', ['--help'], { cwd: import.meta.dirname });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: npm start -- \[options\]\n\nStarts the service.*\n\n {2}--port NUMBER /);
});

it.each(['setup', 'init', 'key', 'check-engine', 'doctor', 'models'])(
  '%s --help says what the command does, with an example',
  async (command) => {
    const { code, stdout, stderr } = await runScript(`src/bin/${command}.ts`, ['--help'], { cwd: import.meta.dirname });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, about, ...more] = stdout.split('\n\n');
    expect([first, about]).toEqual([
      expect.stringMatching(/^Usage: npm run /),
      expect.stringMatching(/^[A-Z](\w+ ){3}/),
    ]);
    expect(more.map((part) => part.trim())).toContainEqual(
      expect.stringMatching(`^Example: npm run ${command} -- .+$`),
    );
  },
);

it.each(['setup', 'models'])('%s --help lists names, unless the settings are wrong', async (command) => {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { 'wrong.yaml': 'port: x' });
  const help = (...args: string[]) => runScript(`src/bin/${command}.ts`, ['--help', ...args], { cwd, env: {} });
  const { stdout } = await help();
  expect(stdout).toMatch(/\n\nNAME is one of:\n(.*\n)* {2}small +Careful transcription \(Whisper small\)\n/);
  expect(stdout.includes('speech-detection ')).toBe(command === 'setup');
  expect(await help('--config', 'wrong.yaml')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Usage: (.*\n)*The settings decide .*: PORT \(in the file: port\): "x" is not allowed/,
    ) as string,
  });
  expect(await entriesOf(cwd)).toEqual(['wrong.yaml']);
});

describe('a start', () => {
  it('takes what it is given first from options, then from the environment, then from --env-file, then from --config', async () => {
    const { said, url } = await startChildService({
      args: ['--config', 'mine.yaml', '--env-file=my.env', '--port', '0', '--host', 'localhost'],
      env: { ...sandbox, PORT: 'not a port', LOG_LEVEL: 'debug' },
      files: {
        'mine.yaml': 'port: 1\nlogLevel: error\nmetricsPort: 1\nttsVoice: fr\n',
        'my.env': 'PORT=1\nLOG_LEVEL=silent\nMETRICS_PORT=0\nexport TTS_VOICE="de" # quoted\n__proto__=a\n',
      },
    });
    expect(url).toMatch(/^http:\/\/localhost:\d+$/);
    expect(said.stderr).toMatch(/^Variables from \S+\/my\.env\n/);
    expect(said.stderr).toMatch(/ Metrics {8}http/);
  });

  it('reads no .env that lies in the working directory', async () => {
    const { said } = await startChildService({ env: sandbox, files: { '.env': 'METRICS_PORT=0\n' } });
    expect(said.stderr).not.toContain('Metrics');
  });
});

describe('--open', () => {
  /** A program of this name, which notes its arguments. */
  async function opener(exitCode: number) {
    const dir = await temporaryDirectory();
    const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${dir}/opened'\nexit ${exitCode}\n`;
    await writeFiles(dir, { 'xdg-open': script });
    await chmod(join(dir, 'xdg-open'), 0o755);
    return { dir, opened: () => readFile(join(dir, 'opened'), 'utf8').catch(() => '') };
  }
  const start = (path: string, options: ProcessOptions = {}) =>
    startChildService({ ...options, args: ['--open'], env: { ...sandbox, PATH: path, ...options.env } });

  it('opens the page, which is there, by its address as one argument', async () => {
    const { dir, opened } = await opener(0);
    const { url, log } = await start([dir, process.env.PATH].join(delimiter));
    await expect.poll(opened).toBe(`1\n${url}/\n`);
    expect((await createApi(url).get('/')).status).toBe(200);
    expect(log().filter(({ msg }) => msg.startsWith('the page'))).toEqual([]);
  });

  it.each([
    ['fails', 'the page was not opened: xdg-open failed'],
    ['is missing', 'the page was not opened: xdg-open is not on PATH'],
  ])('is one line of the log where the program %s', async (what, message) => {
    const { dir } = await opener(3);
    const service = await start(what === 'fails' ? [dir, process.env.PATH].join(delimiter) : '/nonexistent');
    await expect.poll(() => service.log().filter(({ msg }) => msg.startsWith('the page'))).toHaveLength(1);
    expect(service.log().find(({ msg }) => msg === message)).toMatchObject({ level: 40, url: service.url });
    expect((await createApi(service.url).get('/healthz')).status).toBe(200);
  });

  it('opens nothing without a page', async () => {
    const { dir, opened } = await opener(0);
    const service = await start([dir, process.env.PATH].join(delimiter), { env: { PAGE: 'off' } });
    await expect.poll(() => service.log()).toContainEqual(expect.objectContaining({ msg: 'the page was not opened: PAGE is off' })); // prettier-ignore
    expect(await opened()).toBe('');
  });
});
