/** What setup installs, by name and without one, and what the doctor says can be had. */
import { readFile, stat } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { serve, status, type Answer } from '../engines/whisper-cli/support.ts';
import { compileCache, tiedToUs } from '../support/child-service.ts';
import { runScript } from '../support/scripts.ts';
import { entriesOf, temporaryDirectory, writeFiles } from '../support/temporary.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Notes what it is asked to make in a file. */
const engine = (groups: string) => `
  import { appendFileSync } from 'node:fs';
  export default {
    contract: 1, name: 'mine', capability: 'speech',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: (options, context) => {
      const asset = (id, title, bytes, license, more) => ({
        ...{ kind: 'made', id, title, bytes, license, verb: 'building', source: 'npm', path: context.dataDir + '/' + id },
        isReady: () => false,
        make: async () => appendFileSync(context.resolve('prepared'), [context.instance, id].join(' ') + '\\n'),
        ...more,
      });
      return {
        models: [{ id: context.instance, local: true }],
        synthesize: async () => undefined,
        assets: ${groups},
      };
    },
  };`;

const groups = `[
  { id: 'voice', assets: [asset('voice', 'A voice', 63201294, 'CC0')] },
  { id: 'base', assets: [asset('base', 'The base', null, 'MIT')], isAutomatic: true },
  { id: 'there', assets: [asset('there', 'What is there', 1, 'MIT', { isReady: () => true })], isAutomatic: true },
]`;

async function machine() {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, {
    'parlance.config.yaml':
      'engines: { first: { use: ./groups.mjs }, second: { use: ./groups.mjs }, odd: { use: ./odd.mjs } }',
    'groups.mjs': engine(groups),
    'odd.mjs': engine('undefined'),
    prepared: '',
  });
  const run = (script: string, ...args: string[]) =>
    runScript(`src/bin/${script}.ts`, args, { cwd, env: { DATA_DIR: join(cwd, 'data') } });
  const prepared = async () => (await readFile(join(cwd, 'prepared'), 'utf8')).split('\n').slice(0, -1).toSorted();
  return { cwd, run, prepared };
}

test('without a name: what starts unasked, once for all engines; it says what it leaves out', async () => {
  const { run, prepared } = await machine();
  const { code, stderr } = await run('setup');
  expect(stderr).toContain('Everything that the settings need is installed.');
  expect(stderr).toMatch(/^Not installed: voice, .*`npm run setup -- NAME` installs one\.$/m);
  expect(code).toBe(0);
  expect(await prepared()).toEqual(['first base']);
});

test('with names: what they are, and nothing else', async () => {
  const { run, prepared } = await machine();
  const { code, stderr } = await run('setup', 'voice');
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('voice is installed.') as string });
  expect(await prepared()).toEqual(['first voice']);
});

test('an unknown name is an error that lists the known ones, and installs nothing', async () => {
  const { run, prepared } = await machine();
  const { code, stderr } = await run('setup', 'voice', 'orchestra');
  expect(stderr).toBe('setup: unknown name "orchestra"; known: voice, base, there\n');
  expect(code).toBe(1);
  expect(await prepared()).toEqual([]);
});

test('the doctor lists what can be had, and does not call it missing', async () => {
  const { run } = await machine();
  const { stdout } = await run('doctor');
  const voice = 'absent  voice        A voice, 63 MB, license CC0, missing\n          fix: npm run setup -- voice';
  expect(stdout).toContain(voice);
  expect(stdout).toContain('ok      there        What is there, 1 MB, license MIT, ready\n');
});

test('assets that break the rules are refused, which the doctor says, and the others are installed', async () => {
  const { cwd, run, prepared } = await machine();
  const odd = {
    twice: ['[one, one]', '`assets` has an id twice'],
    space: [
      `[{ ...one, id: 'my voice' }]`,
      'an id of `assets` is not 1 to 64 letters, digits, dots, hyphens and underscores',
    ],
    negative: [
      `[{ ...one, assets: [asset('a', 'A', -1, 'MIT')] }]`,
      'the asset a has neither a whole number of bytes nor null',
    ],
    kind: [
      `[{ ...one, assets: [asset('a', 'A', 1, 'MIT', { kind: 'toString' })] }]`,
      'the asset a is of the unknown kind toString',
    ],
    text: [`'voice'`, '`assets` is not an array'],
  } as const;
  const oddEngine = (list: string) =>
    engine(`(() => { const one = { id: 'a', assets: [asset('a', 'A', 1, 'MIT')] }; return ${list}; })()`);
  const files = Object.entries(odd).map(([name, [list]]) => [`${name}.mjs`, oddEngine(list)] as const);
  const engines = ['groups', ...Object.keys(odd)].map((name) => [name, { use: `./${name}.mjs` }]);
  const settings = JSON.stringify({ engines: Object.fromEntries(engines) as object });
  await writeFiles(cwd, { ...Object.fromEntries(files), 'parlance.config.yaml': settings });
  const { stdout } = await run('doctor');
  for (const [, why] of Object.values(odd)) expect(stdout).toContain(why);
  expect((await run('setup')).code).toBe(0);
  expect(await prepared()).toEqual(['groups base']);
});

const script = 'src/bin/setup.ts';

/** Settings whose models come from a server of the test; whisper-cli is said to be there. */
async function withModels(...answers: readonly Answer[]) {
  const cwd = await temporaryDirectory();
  const site = await serve(...answers);
  const model = { use: 'whisper-cli', program: '/bin/true', mirror: site.url, keepLoaded: false, voiceActivity: 'off' };
  const engines = { local: { ...model, models: [{ id: 'mine', file: 'mine.bin' }] } };
  await writeFiles(cwd, { 'parlance.config.yaml': JSON.stringify({ engines }) });
  const env = { DATA_DIR: join(cwd, 'data') };
  const setup = (...args: string[]) => runScript(script, args, { cwd, env });
  return { cwd, env, site, setup, directory: join(cwd, 'data', 'models') };
}

const bytesSent = 2 ** 20;

/** Sends a part of a larger file, and no more. */
const begins: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': 400 * 2 ** 20 });
  response.write(Buffer.alloc(bytesSent));
};

/** Runs until the download has begun; then `signal` is sent. */
async function interrupted(signal: NodeJS.Signals, { cwd, env, directory }: Awaited<ReturnType<typeof withModels>>) {
  const place = join(import.meta.dirname, '../..', script);
  const [program, ...args] = tiedToUs(process.execPath, '--conditions=parlance-source', place, 'small');
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

describe('a model by its name', () => {
  test('a broken download is said, with the exit code 1, and leaves nothing', async () => {
    const { setup, directory } = await withModels(status(404));
    const { code, stderr } = await setup('small');
    expect(code).toBe(1);
    expect(stderr).toContain('the server answered 404');
    expect(await entriesOf(directory)).toEqual([]);
  });

  test('Ctrl-C stops it, and the next one resumes', async () => {
    const machine = await withModels(begins, status(404));
    const { code, stderr } = await interrupted('SIGINT', machine);
    expect({ code, stderr }).toMatchObject({
      code: 130,
      stderr: /Interrupted\. Not finished: downloading Whisper small\./,
    });
    await machine.setup('small');
    expect(machine.site.requests.at(-1)?.headers.range).toBe(`bytes=${bytesSent}-`);
  });

  test('resumes after SIGKILL', async () => {
    const machine = await withModels(begins, status(404));
    await interrupted('SIGKILL', machine);
    await machine.setup('small');
    expect(machine.site.requests.at(-1)?.headers.range).toBe(`bytes=${bytesSent}-`);
  });
});

describe('an unknown name', () => {
  it.each(['smal', '__proto__', '../../etc/passwd', 'http://127.0.0.1/x', 'x'.repeat(5_000)])(
    'is an error: %.30s',
    async (name) => {
      const { setup, site } = await withModels(status(404));
      const { code, stderr } = await setup(name);
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: /^setup: unknown name "/ });
      expect(stderr.length).toBeLessThan(600);
      expect(site.requests).toEqual([]);
    },
  );
});
