/**
 * A machine that has neither whisper-cli nor a model: the service serves at once, prepares both in the background and
 * says how far it is. Fake tools stand for npm, tar and cmake, a server of the test's own for the one with the models.
 */
import { hash } from 'node:crypto';
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  endsSoon,
  spawnService,
  startChildService,
  startProcess,
  type ChildProcess,
  type ChildService,
  type ProcessOptions,
} from '../support/child-service.ts';
import { describeWith, run } from '../support/programs.ts';
import { entriesOf, temporaryDirectory } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { openNamespace, type Namespace } from './namespace.ts';
import { alive, runningChildren, childrenOf } from './processes.ts';
import { describeAsRoot, probe, recording, spoken, toAnswer, transcribe, type Answer } from './support.ts';
import { noise } from '../support/noise.ts';

const patience = { timeout: 20_000, interval: 20 };
const programs = join(import.meta.dirname, 'programs');
const fixtures = join(import.meta.dirname, '../fixtures/programs');

/** What the stand-in for npm packs. */
const sourceIntegrity = `sha512-${hash('sha512', 'the packed source', 'base64')}`;

const usual = ['mkdir', 'cp', 'chmod', 'sleep'].map((name) => [name, `/bin/${name}`] as const);
/** All that a build needs; nothing runs the compilers. */
const tools: Readonly<Record<string, string>> = {
  ...Object.fromEntries(usual),
  npm: join(fixtures, 'npm'),
  tar: join(fixtures, 'tar'),
  cmake: join(programs, 'cmake-gated.sh'),
  ...Object.fromEntries(['make', 'cc', 'c++', 'node'].map((name) => [name, process.execPath])),
};

/** A PATH that has these programs and no others: no whisper-cli, no ffmpeg. */
async function pathWith(found: Readonly<Record<string, string>>): Promise<string> {
  const path = await temporaryDirectory();
  for (const [name, program] of Object.entries(found)) await symlink(program, join(path, name));
  return path;
}

async function toneModel(): Promise<Buffer> {
  const path = join(await temporaryDirectory(), 'tones.bin');
  await writeToneModel(path);
  return readFile(path);
}

const modelPath = ({ dataDir }: ChildProcess): string => join(dataDir, 'models/ggml-base.bin');

interface MachineOptions {
  readonly tools?: Readonly<Record<string, string>>;
  readonly mirror: Mirror;
  /** The model that the service takes for the published one; absent: it knows the published one. */
  readonly expected?: Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Of an earlier life; absent: one of its own. */
  readonly dataDir?: string;
}

const changedConstants = ['--import', join(programs, 'changed-constants.mjs')];

/** As a fresh machine is, but for the mirror: where the models come from by default no test may ask. */
async function freshMachine(options: MachineOptions): Promise<ProcessOptions> {
  const { tools: found = tools, mirror, expected, env, dataDir } = options;
  const model = `{ id: local, file: ${dataDir ?? 'data'}/models/ggml-base.bin }`;
  const digests = expected && { MODEL_SHA1: hash('sha1', expected), SOURCE_INTEGRITY: sourceIntegrity };
  return {
    config: `engines: { local: { use: whisper-cli, mirror: '${mirror.url}', voiceActivity: 'off', models: [${model}] } }`,
    env: { PATH: await pathWith(found), TRANSCRIBE_SETUP: 'on', ...digests, ...env },
    ...(expected && { nodeOptions: changedConstants }),
    ...(dataDir !== undefined && { dataDir }),
  };
}

/** Lets the stand-in for cmake continue. */
const release = ({ dir }: ChildProcess, step: 'half-built' | 'built') => writeFile(join(dir, step), '');

/** What the stand-in for cmake builds: the real programs by other names. */
const wrapped = (found: Readonly<Record<'whisper-cli' | 'whisper-host', string>>) =>
  Object.fromEntries(Object.entries(found).map(([name, program]) => [name, `#!/bin/sh\nexec "${program}" "$@"\n`]));

async function says(service: ChildService, expected: RegExp): Promise<void> {
  await expect.poll(async () => (await probe(service)).reason, patience).toMatch(expected);
}

async function listed({ url }: ChildService): Promise<unknown> {
  const { body } = await toAnswer(await fetch(`${url}/api/v1/transcribe/models`));
  return (body.data as unknown[])[0];
}

describeWith(['whisper-cli', 'whisper-host'], 'a fresh machine', (found) => {
  test('serves at once, says how far its preparation is, and transcribes when it is done', async () => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    const options = await freshMachine({ mirror, expected: model });
    const service = await startChildService({ ...options, files: wrapped(found) });

    await says(service, /building whisper\.cpp: 9 %, downloading Whisper base: 0 %|downloading.*building/);
    expect(await probe(service)).toMatchObject({ available: false, code: 'preparing', model: 'local' });
    const refused = await transcribe(service, recording);
    expect(refused).toMatchObject({ status: 503, body: { code: 'model-unavailable' } });
    expect(refused.body.detail).toMatch(/Installing/);

    mirror.sendUpTo(0.25);
    await says(service, /downloading Whisper base: 25 %/);
    await says(service, /building whisper\.cpp: 9 %/);
    expect(await listed(service)).toMatchObject({
      id: 'local',
      available: false,
      code: 'preparing',
      reason: expect.stringContaining('25 %') as string,
      progress: expect.closeTo((0.09 + 0.25) / 2) as number,
    });
    mirror.sendUpTo(0.5);
    await says(service, /downloading Whisper base: 50 %/);
    await release(service, 'half-built');
    await says(service, /building whisper\.cpp: 45 %/);

    mirror.breakOff();
    await expect.poll(() => mirror.requests.length, patience).toBe(2);
    expect(mirror.requests[1]?.headers.range).toBe(`bytes=${Math.ceil(model.length / 2)}-`);
    mirror.sendUpTo(0.75);
    await says(service, /downloading Whisper base: 75 %/);
    mirror.sendUpTo(1);
    await says(service, /Installing \(building whisper\.cpp: 45 %\)/);
    expect(await probe(service)).toMatchObject({ code: 'preparing', progress: 0.45 });
    await release(service, 'built');

    await expect.poll(() => probe(service), patience).toMatchObject({ available: true, code: 'ready' });
    expect(await transcribe(service, recording)).toMatchObject({ status: 200, body: spoken });
    const prepared = ['bin', 'bin/whisper-cli', 'bin/whisper-host', 'models', 'models/ggml-base.bin'];
    await expect.poll(() => filesOf(service), patience).toEqual(prepared);
    for (const step of ['downloading Whisper base', 'building whisper.cpp']) {
      const told = () => percentagesIn(service.said.stderr, step);
      await expect.poll(() => told().at(-1), patience).toBe(100);
      const percentages = told();
      expect(percentages[0]).toBe(0);
      expect(percentages).toEqual(percentages.toSorted((a, b) => a - b)); // once more after an interruption
    }
  });

  test('is told which file was expected when the model is another one, and takes the one that is put in its place', async () => {
    const mirror = await startMirror(noise(2_000_000));
    const service = await startChildService(await freshMachine({ mirror, env: { WHISPER_CLI: found['whisper-cli'] } }));
    mirror.sendUpTo(0.4);
    await says(service, /^Installing \(downloading Whisper base: 40 %\)\.$/);
    mirror.sendUpTo(1);
    await says(service, /SHA-1/);
    const { code, reason } = await probe(service);
    expect(code).toBe('model-file-missing');
    expect(reason).toContain(`${mirror.url}/ggml-base.bin is not the expected file`);
    expect(reason).toMatch(
      /2000000 bytes with the SHA-1 [0-9a-f]{40}, expected 465707469ff3a37a2b9b8d8f89f2f99de7299dac/,
    );
    expect(reason).toContain(`copy it to ${modelPath(service)} manually`);
    await expect.poll(() => service.said.stderr, patience).toContain('is not the expected file');
    const logged = () => service.log().find(({ msg }) => msg === 'an asset could not be installed');
    await expect.poll(logged, patience).toMatchObject({ level: 40 });
    expect(await filesOf(service)).toEqual(['models']);

    await writeToneModel(modelPath(service));
    await expect.poll(() => probe(service), patience).toMatchObject({ available: true, code: 'ready' });
    expect(await transcribe(service, recording)).toMatchObject({ status: 200, body: spoken });
  });

  test('is told at once that the download has failed, and continues to build', async () => {
    const mirror = await startMirror(noise(1_000));
    mirror.sendUpTo(1);
    const options = await freshMachine({ mirror, expected: noise(1_000, 2) });
    const service = await startChildService({ ...options, files: wrapped(found) });
    await says(service, /^Whisper base is not installed: .*is not the expected file/);
    expect(await probe(service)).toMatchObject({ available: false, code: 'model-file-missing' });
    await release(service, 'half-built');
    await expect.poll(() => service.said.stderr, patience).toMatch(/building whisper\.cpp .* 45 %/);
    await says(service, /^Whisper base is not installed: /);
  });

  test('is told which programs to install when it cannot build, and downloads the model all the same', async () => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    mirror.sendUpTo(1);
    const { cmake: _, ...others } = tools;
    const service = await startChildService(await freshMachine({ mirror, tools: others, expected: model }));
    await says(service, /^whisper\.cpp is not installed: .*apt-get install cmake/);
    expect(await probe(service)).toMatchObject({ available: false, code: 'program-missing' });
    await expect.poll(() => service.said.stderr, patience).toContain('apt-get install cmake');
    await expect.poll(() => entriesOf(join(service.dataDir, 'models')), patience).toEqual(['ggml-base.bin']);
  });

  test('with TRANSCRIBE_SETUP=off prepares nothing and says what to do', async () => {
    const mirror = await startMirror(noise(100));
    const service = await startChildService(await freshMachine({ mirror, env: { TRANSCRIBE_SETUP: 'off' } }));
    const { available, code, reason } = await probe(service);
    expect({ available, code }).toEqual({ available: false, code: 'program-missing' });
    expect(reason).toMatch(/^whisper\.cpp is not installed: run `npm run setup`\.$/);

    const withProgram = { TRANSCRIBE_SETUP: 'off', WHISPER_CLI: found['whisper-cli'] };
    const other = await startChildService(await freshMachine({ mirror, env: withProgram }));
    expect(await probe(other)).toEqual({
      available: false,
      code: 'model-file-missing',
      reason: 'Whisper base is not installed: run `npm run setup`.',
      model: 'local',
    });
    expect(mirror.requests).toEqual([]);
    for (const each of [service, other]) {
      expect(childrenOf(each.pid)).toEqual([]);
      expect(await filesOf(each)).toEqual([]);
    }
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('ends at once in the middle of its preparation, by %s', async (signal) => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    const service = await startChildService(await freshMachine({ mirror, expected: model }));
    mirror.sendUpTo(0.5);
    await says(service, /building whisper\.cpp: 9 %/);
    await says(service, /downloading Whisper base: 50 %/);
    const compilers = await runningChildren(service.pid, /cmake --build/);
    service.kill(signal);
    expect(await endsSoon(service)).toEqual({ code: 0, signal: null });
    await expect.poll(() => alive(compilers), patience).toEqual([]);
    expect(service.said.stderr).not.toMatch(/Error| at /);
    // What has come of the model, and what was compiled, is kept for the next start.
    expect((await filesOf(service)).filter((path) => !isOfBuild(path))).toEqual([
      'bin',
      'models',
      'models/ggml-base.bin.part',
    ]);
    const { size } = await stat(`${modelPath(service)}.part`);
    expect(size).toBe(Math.ceil(model.length / 2));
  });

  test('continues at the next start where the last one stopped, though that was killed', async () => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    mirror.sendUpTo(0.5);
    const dataDir = await temporaryDirectory();
    const machine = await freshMachine({
      mirror,
      expected: model,
      env: { WHISPER_CLI: found['whisper-cli'] },
      dataDir,
    });
    const killed = await startChildService(machine);
    await says(killed, /downloading Whisper base: 50 %/);
    killed.kill('SIGKILL');
    await killed.exit;
    const service = await startChildService(machine);
    await expect.poll(() => mirror.requests.length, patience).toBe(2);
    expect(mirror.requests[1]?.headers.range).toBe(`bytes=${Math.ceil(model.length / 2)}-`);
    mirror.sendUpTo(1);
    await expect.poll(() => probe(service), patience).toMatchObject({ available: true, code: 'ready' });
  });
});

describe('npm run setup', () => {
  test('prepares in the foreground, with its progress, and has nothing to do the next time', async () => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    mirror.sendUpTo(1);
    const dataDir = await temporaryDirectory();
    const machine = await freshMachine({ mirror, expected: model, dataDir });
    const setup = await startProcess('src/bin/setup.ts', {
      ...machine,
      files: wrapped({ 'whisper-cli': '/bin/true', 'whisper-host': '/bin/true' }),
    });
    await Promise.all([release(setup, 'half-built'), release(setup, 'built')]);
    expect(await setup.exit).toEqual({ code: 0, signal: null });
    for (const step of ['downloading Whisper base', 'building whisper.cpp']) {
      expect(percentagesIn(setup.said.stderr, step).at(-1)).toBe(100);
    }
    expect(setup.said.stderr).toMatch(/Everything that the settings need is installed\./);
    expect(await filesOf(setup)).toEqual([
      'bin',
      'bin/whisper-cli',
      'bin/whisper-host',
      'models',
      'models/ggml-base.bin',
    ]);

    // Nothing is compiled unasked, but setup adds what is missing.
    await rm(join(dataDir, 'bin/whisper-host'));
    const more = await startProcess('src/bin/setup.ts', {
      ...machine,
      files: { 'whisper-host': '', 'half-built': '', built: '' },
    });
    expect(await more.exit).toEqual({ code: 0, signal: null });
    expect(percentagesIn(more.said.stderr, 'building whisper-host')).toEqual([0, 10, 50, 100]);
    expect(await filesOf(more)).toContain('bin/whisper-host');

    const again = await startProcess('src/bin/setup.ts', machine);
    expect(await again.exit).toEqual({ code: 0, signal: null });
    expect(again.said.stderr).toMatch(/^Everything that the settings need is installed\./);
    expect(mirror.requests).toHaveLength(1);
  });

  test('ends with exit code 1 and says all that failed', async () => {
    const mirror = await startMirror(noise(1000));
    mirror.sendUpTo(1);
    const setup = await startProcess('src/bin/setup.ts', await freshMachine({ mirror, tools: {} }));
    expect(await setup.exit).toEqual({ code: 1, signal: null });
    expect(setup.said.stderr).toContain('apt-get install npm tar cmake make g++');
    expect(setup.said.stderr).toContain(`copy it to ${modelPath(setup)} manually`);
    expect(setup.said.stderr).not.toMatch(/ at |All that/);
  });

  test('waits for another that is running, and says so, as the doctor does', async () => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    mirror.sendUpTo(0.5);
    const first = await startProcess('src/bin/setup.ts', await freshMachine({ mirror, expected: model }));
    await runningChildren(first.pid, /cmake --build/);
    await expect.poll(() => first.said.stderr, patience).toContain(' 50 %');
    const machine = await freshMachine({ mirror, expected: model, dataDir: first.dataDir });
    const second = await startProcess('src/bin/setup.ts', machine);
    const doctor = await startProcess('src/bin/doctor.ts', machine);
    for (const step of ['building whisper.cpp', 'downloading Whisper base']) {
      await expect.poll(() => second.said.stderr, patience).toContain(`another process is ${step}`);
    }
    expect((await doctor.exit).code).toBe(1);
    expect(doctor.said.stdout).toMatch(
      /pending whisper-cli +whisper\.cpp, .*another process is building whisper\.cpp\n/,
    );
    expect(doctor.said.stdout).toMatch(
      /pending base +Whisper base, .*another process is downloading Whisper base: \d+ %\n/,
    );
    expect(doctor.said.stdout).not.toContain('MISSING');
    first.kill('SIGTERM');
    await first.exit;
    await runningChildren(second.pid, /cmake --build/);
    second.kill('SIGTERM');
    await second.exit;
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with its tools when it is interrupted by %s', async (signal, code) => {
    const model = await toneModel();
    const mirror = await startMirror(model);
    mirror.sendUpTo(0.5);
    const setup = await startProcess('src/bin/setup.ts', await freshMachine({ mirror, expected: model }));
    const compilers = await runningChildren(setup.pid, /cmake --build/);
    await expect.poll(() => setup.said.stderr, patience).toContain(' 50 %');
    setup.kill(signal);
    expect(await setup.exit).toEqual({ code, signal: null });
    await expect.poll(() => alive(compilers), patience).toEqual([]);
    const steps = /Not finished: (?=.*building whisper\.cpp)(?=.*downloading Whisper base).*continues where it stopped/;
    expect(setup.said.stderr).toMatch(/%\nInterrupted\. .*\n$/);
    expect(setup.said.stderr).toMatch(steps);
    expect((await filesOf(setup)).filter((path) => !isOfBuild(path))).toEqual([
      'bin',
      'models',
      'models/ggml-base.bin.part',
    ]);
  });
});

describeWith(['whisper-cli', 'whisper-host', 'ffmpeg'], 'npm run doctor', (found) => {
  const secrets = {
    API_KEYS: 'sk-of-a-caller,sk-of-another',
    OPENAI_API_KEY: 'sk-of-the-provider',
    ANOTHER_KEY: 'sk-in-the-file',
  };
  const engineWithKey = `
    export default {
      contract: 1,
      name: 'keyed',
      capability: 'transcription',
      options: { type: 'object', properties: { apiKey: { type: 'string' } }, additionalProperties: false },
      create: () => ({
        models: [
          {
            ...{ id: 'hosted', local: false },
            availability: { available: false, code: 'key-refused', reason: 'The key was refused.' },
          },
        ],
        transcribe: async () => ({ text: '', language: null }),
      }),
    };`;

  test('says what is missing and what fixes it, with exit code 1, when nothing can transcribe', async () => {
    const options = { env: { PATH: await pathWith({}), ...secrets } };
    const doctor = await startProcess('src/bin/doctor.ts', options);
    expect(await doctor.exit).toEqual({ code: 1, signal: null });
    const { stdout, stderr } = doctor.said;
    expect(stderr).toBe('');
    expect(stdout).toMatch(/absent {2}ffmpeg .*\n +fix: apt-get install ffmpeg\n/);
    expect(stdout).toMatch(
      /MISSING whisper-cli .*cannot be built without .*: run `apt-get install npm tar cmake make g\+\+`\n +fix: npm run setup\n/,
    );
    expect(stdout).toMatch(/MISSING base +Whisper base, 149 MB, license MIT, missing\n +fix: npm run setup\n/);
    expect(stdout).toMatch(/\nTranscription: no model works\.\n$/);
    expect(stdout).not.toContain('sk-');
  });

  test('says versions, paths and models, with exit code 0, when something can', async () => {
    const directory = await temporaryDirectory();
    const model = join(directory, 'tones.bin');
    await writeToneModel(model);
    await writeToneModel(join(directory, 'english.bin'), { englishOnly: true });
    const models = ['tones', 'english', 'absent'].map((id) => `{ id: ${id}, file: ${join(directory, id)}.bin }`);
    const doctor = await startProcess('src/bin/doctor.ts', {
      config: `
        engines:
          local: { use: whisper-cli, program: ${found['whisper-cli']}, models: [${models.join(', ')}] }
          hosted: { use: ./keyed.mjs, apiKey: '\${ANOTHER_KEY}' }`,
      files: { 'keyed.mjs': engineWithKey },
      env: secrets,
    });
    expect(await doctor.exit).toEqual({ code: 0, signal: null });
    const { stdout, stderr } = doctor.said;
    expect(stderr).toBe('');
    const lines = stdout.split('\n').map((line) => line.trim().replace(/ +/g, ' '));
    expect(lines).toEqual(
      expect.arrayContaining([
        `ok Node.js ${process.version}, ${process.execPath}`,
        expect.stringMatching(`^ok ffmpeg [\\d.]+.*, ${found.ffmpeg}$`),
        `ok data ${doctor.dataDir}`,
        expect.stringMatching(`^ok whisper-cli \\S+, ${found['whisper-cli']}, from the settings$`),
        expect.stringMatching(/^ok memory \d+ MB for models that stay loaded \(half of what is available now\)$/),
        `ok whisper-host ${join(found['whisper-cli'], '../whisper-host')}`,
        `ok model tones 7 MB, needs about 219 MB loaded, multilingual, ${model}`,
        `ok model english 7 MB, needs about 219 MB loaded, English only, ${join(directory, 'english.bin')}`,
        `MISSING model absent ${join(directory, 'absent.bin')} does not exist`,
        'Transcription works with: tones, english',
      ]),
    );
    expect(stdout).not.toContain('sk-');
    expect(await filesOf(doctor)).toEqual([]);
  });
});

/** It gives up after some seconds: begun first, looked at last. */
let startWithoutNetwork: (() => Promise<void>) | undefined;
const withoutNetwork = new AsyncDisposableStack();
beforeAll(() => startWithoutNetwork?.());
afterAll(() => withoutNetwork.disposeAsync());

describeAsRoot('a fresh machine without a network', () => {
  describeWith(['whisper-cli', 'curl', 'nsenter'], 'with real programs', ({ curl, 'whisper-cli': whisper }) => {
    let namespace: Namespace;
    let service: ChildService;
    startWithoutNetwork = async () => {
      namespace = withoutNetwork.use(await openNamespace());
      const env = { WHISPER_CLI: whisper, TRANSCRIBE_SETUP: 'on', FIRST_DELAY_MS: '300' };
      const options = { env, nodeOptions: changedConstants, through: () => namespace.enter };
      service = withoutNetwork.use(await spawnService(options));
      atFirst = await ask();
    };

    let atFirst: Answer['body'];
    const ask = async (...args: string[]) => {
      const [enter, ...rest] = namespace.enter;
      const answer = await run(enter, [...rest, curl, '-sS', ...args, `${service.url}/api/v1/transcribe`]);
      return JSON.parse(answer) as Answer['body'];
    };

    test('says exactly which file to put where, and works once it is there', { timeout: 90_000 }, async () => {
      expect(atFirst).toMatchObject({ available: false, code: 'preparing' });
      await expect.poll(async () => (await ask()).code, { timeout: 60_000 }).toBe('model-file-missing');
      const url = 'https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-base.bin';
      const { reason } = await ask();
      expect(reason).toContain(`: ${url} cannot be downloaded: `);
      expect(reason).toContain(`copy it to ${modelPath(service)} manually`);
      expect(reason).toMatch(/cannot be downloaded: .*, after 6 attempts/);

      await writeToneModel(modelPath(service));
      await expect.poll(async () => (await ask()).code, { timeout: 60_000 }).toBe('ready');
      const path = join(service.dir, 'recording.wav');
      await writeFile(path, recording);
      expect(await ask('-F', `file=@${path}`)).toMatchObject(spoken);
    });
  });
});

/** Below the data directory, but for the directories of running services. */
async function filesOf({ dataDir }: ChildProcess): Promise<string[]> {
  return (await readdir(dataDir, { recursive: true })).filter((path) => !isNote.test(path)).toSorted();
}

/** Temporary files, receipts of downloads, and locks. */
const isNote = /^(tmp|downloads)(\/|$)|(^|\/)\.locks(\/|$)/;

/** In the directory of a build that was interrupted. */
const isOfBuild = (path: string): boolean => path.startsWith('whisper-build-');

/** Of the lines of a progress bar, in their order. */
function percentagesIn(terminal: string, step: string): number[] {
  const lines = terminal.split('\n').filter((line) => /^( \[|: done in )/.test(line.slice(step.length)));
  const own = lines.filter((line) => line.startsWith(step));
  return own.map((line) => (line.endsWith('%') ? Number(/(\d+) %$/.exec(line)?.[1]) : 100));
}
