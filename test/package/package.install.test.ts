/** `npm pack`, as another project has it: on the oldest Node.js that is allowed, and on ours. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { childrenOf } from '../deployment/processes.ts';
import { describeWith, run } from '../support/programs.ts';
import { blockWith } from '../docs/support/pages.ts';
import { writeFiles } from '../support/temporary.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';
import { addressOf, installPackage, oldestNode, quietly, start, type InstalledPackage } from './support/installed.ts';
import { builtTarball, installPrograms, packPrograms } from './support/whisper-package.ts';

const home = resolve(import.meta.dirname, '../..');
const wav = toneWav({ words: ['alpha'], rate: 16_000, tailSeconds: 0.5 });

let installed: InstalledPackage;
let inside: (...path: string[]) => string;

beforeAll(async () => {
  installed = await installPackage();
  inside = (...path) => join(installed.project, ...path);
  await cp(join(home, 'test/fixtures/consumers/package'), installed.project, { recursive: true });
  await writeFile(inside('recording.wav'), wav);
  await writeFile(inside('parlance.config.yaml'), 'engines: { mine: { use: ./engine.js, unit: milliseconds } }\n');
}, 300_000);
afterAll(() => installed[Symbol.asyncDispose]());

describe('the packed file', () => {
  it('has what is needed and nothing else', () => {
    const { files } = installed;
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'package.json',
        'dist/src/bin/parlance.js',
        'dist/generated/openapi.json',
      ]),
    );
    expect(
      files.filter(
        (path) => !/^(dist\/(src|engines|lib|generated)\/|LICENSE$|NOTICE$|README\.md$|package\.json$)/.test(path),
      ),
    ).toEqual([]);
    expect(files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
  });

  it('has every module and every other file of the sources', () => {
    const sources = ['src', 'engines', 'lib']
      .flatMap((folder) =>
        readdirSync(join(home, folder), { recursive: true, withFileTypes: true })
          .filter(
            (entry) => entry.isFile() && !entry.name.endsWith('.d.ts') && !entry.parentPath.includes('node_modules'),
          )
          .map(({ parentPath, name }) => join(parentPath, name).slice(home.length + 1)),
      )
      // For a clone: npm packs no .npmrc, and an installed package finds those of the fleet beside itself.
      .filter((path) => !path.endsWith('/.npmrc') && !path.startsWith('src/fleet/packages/'));
    const expected = sources.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`);
    expect(expected.filter((path) => !installed.files.includes(path))).toEqual([]);
  });

  it('names no TypeScript file in a built module', async () => {
    // init-engine writes TypeScript.
    const built = installed.files.filter((path) => path.endsWith('.js') && !path.endsWith('/bin/init-engine.js'));
    const naming: string[] = [];
    for (const path of built) {
      const source = await readFile(inside('node_modules/@parlance/server', path), 'utf8');
      if (/[\w-]\.ts['"`]/.test(source.replace(/^\s*(\/?\*|\/\/).*$/gm, ''))) naming.push(path);
    }
    expect(naming).toEqual([]);
  });
});

describe.each([
  ['@typescript/native', 'tsconfig.page.json'],
  ['@typescript/native', 'tsconfig.node.json'],
  ['typescript', 'tsconfig.node.json'],
])('its types, for %s', (compiler, config) => {
  // A compiler takes as long as the machine lets it.
  it(`hold in a project with ${config}`, { timeout: 120_000 }, async () => {
    const types = ['--typeRoots', join(home, 'node_modules/@types')];
    const tsc = join(home, 'node_modules', compiler, 'bin/tsc');
    const line = [tsc, '-p', inside(config), ...types];
    await run(process.execPath, line, { deadlineMs: 110_000 }).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
  });
});

describe.each(['newest', 'oldest'] as const)('on the %s Node.js', (which) => {
  const quiet = { TRANSCRIBE_SETUP: 'off', PORT: '0' };
  const parlance = (args: readonly string[], env: Readonly<Record<string, string>> = {}, path?: string) => {
    const own = { DATA_DIR: inside(`data-${which}`), ...quiet, ...env };
    const options = { node: installed.nodes[which], cwd: installed.project, env: own };
    // By npx where programs may be found, else by its path: npx needs a shell.
    return path === undefined
      ? start('npx', ['parlance', ...args], options)
      : start(inside('node_modules/.bin/parlance'), args, { ...options, path });
  };

  it('the command serves, with an engine of the project’s own', async () => {
    await using running = parlance([]);
    const baseUrl = await addressOf(running);
    expect(await (await fetch(`${baseUrl}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${baseUrl}/openapi.json`)).text()).toBe(
      await readFile(join(home, 'generated/openapi.json'), 'utf8'),
    );
    const page = await fetch(baseUrl);
    expect(page.status).toBe(200);
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(await page.text()) ?? [];
    expect((await fetch(new URL(script, page.url))).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect((await fetch(`${baseUrl}/docs`)).status).toBe(200);
    const client = createClient({ baseUrl });
    expect((await client.transcriptionModels()).data).toMatchObject([{ id: 'ruler', engine: 'mine', available: true }]);
  });

  it('decodes without ffmpeg, in a thread, and ends when it is told to', async () => {
    await using running = parlance(['start'], {}, '');
    const client = createClient({ baseUrl: await addressOf(running) });
    const wav = toneWav({ words: ['alpha'], rate: 48_000, tailSeconds: 0.5 });
    expect(await client.transcribe(wav)).toMatchObject({ text: '1500 milliseconds', duration_ms: 1500 });
    running.signal('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  it('speaks by itself, without any program', async () => {
    await writeFile(inside('voice.yaml'), 'engines: { voice: { use: espeak } }\n');
    await using running = parlance([], { PARLANCE_CONFIG: 'voice.yaml' }, '');
    const answer = await createClient({ baseUrl: await addressOf(running) }).speak({ text: 'Good morning.' });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect((await answer.bytes()).length).toBeGreaterThan(2_000);
  });

  it('every export can be imported and used', async () => {
    await using running = parlance([]);
    const url = await addressOf(running);
    const options = { node: installed.nodes[which], cwd: installed.project, env: quiet };
    await using consumer = start('node', ['consumer.js', url], options);
    const { code, stdout, stderr } = await consumer.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const transcription = { text: '1500 milliseconds', language: null, duration_ms: 1500, model: 'ruler' };
    expect(JSON.parse(stdout)).toEqual({
      node: which === 'oldest' ? oldestNode : process.versions.node,
      exports: ['RegistryError', 'SettingsError', 'createApp', 'createLog', 'loadSettings', 'startService'],
      engine: expect.arrayContaining(['EngineError', 'defineEngine']) as string[],
      versions: [/^3\.1\./, /^3\.2\./, /^3\.1\./, /^3\.0\./].map((version) => expect.stringMatching(version) as string),
      bytes: transcription,
      path: transcription,
      refusal: { isOurs: true, code: 'invalid-request', status: 422 },
      sandbox: [503, 'Hello.'],
      embedded: 'ruler',
      page: [200, 'text/html; charset=utf-8'],
    });
  });

  it('serves the example engine', async () => {
    await cp(join(home, 'examples/pocketsphinx.ts'), inside('pocketsphinx.ts'));
    await writeFile(inside('sphinx.yaml'), 'engines: { mine: { use: ./pocketsphinx.ts, words: [yes] } }\n');
    await using running = parlance([], { PARLANCE_CONFIG: 'sphinx.yaml' });
    const client = createClient({ baseUrl: await addressOf(running) });
    expect((await client.transcriptionModels()).data).toMatchObject([{ id: 'sphinx', engine: 'mine' }]);
  });

  it('runs the example client', async () => {
    await writeFile(inside('sandbox.yaml'), 'engines: { sandbox: { use: sandbox } }\n');
    await cp(join(home, 'examples/talk.mjs'), inside('talk.mjs'));
    await using running = parlance([], { PARLANCE_CONFIG: 'sandbox.yaml' });
    const env = { PARLANCE_URL: await addressOf(running) };
    const options = { node: installed.nodes[which], cwd: installed.project, env };
    await using client = start('node', ['talk.mjs', 'recording.wav'], options);
    const { code, stdout } = await client.ended;
    expect(stdout).toContain('Saved: clip-0.mp3');
    expect(code).toBe(0);
    expect((await readFile(inside('clip-0.mp3'))).length).toBeGreaterThan(1_000);
  });

  // The rest does not depend on the version of Node.js.
  if (which === 'oldest') return;

  it('has no page with PAGE=off', async () => {
    await using running = parlance([], { PAGE: 'off' });
    const baseUrl = await addressOf(running);
    for (const path of ['/', '/docs']) expect((await fetch(baseUrl + path)).status).toBe(404);
    expect((await fetch(`${baseUrl}/openapi.json`)).status).toBe(200);
  });

  it('has every engine that the repository has', async () => {
    const builtIns = readdirSync(join(home, 'engines')).filter(
      (name) => name !== 'contract' && existsSync(join(home, 'engines', name, 'index.ts')),
    );
    await writeFile(inside('wrong.yaml'), 'engines: { mine: { use: nothing } }\n');
    await using running = parlance([], { PARLANCE_CONFIG: 'wrong.yaml' });
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`use one of ${builtIns.sort().join(', ')}, a path`);
  });
});

describe('the command', () => {
  const ask = async (more: Readonly<Record<string, string>>, ...args: string[]) => {
    const env = { DATA_DIR: inside('data'), TRANSCRIBE_SETUP: 'off', ...more };
    await using running = start(inside('node_modules/.bin/parlance'), args, {
      node: installed.nodes.newest,
      cwd: installed.project,
      env,
    });
    return await running.ended;
  };

  it('says which Node.js it needs, on an older one', async () => {
    const options = { node: installed.nodes.tooOld, cwd: installed.project, env: {} };
    await using running = start(inside('node_modules/.bin/parlance'), [], options);
    const stderr = expect.stringMatching(
      /^parlance needs Node\.js >=22\.21 <23 \|\| >=24\.9; this is v20\.19\.0\.\n$/,
    ) as string;
    expect(await running.ended).toEqual({ code: 1, stdout: '', stderr });
  });

  it('says its version', async () => {
    const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
    expect(await ask({}, '--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('explains itself', async () => {
    const { code, stdout } = await ask({}, '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npx @parlance\/server \[command\] \[options\]\n/);
    for (const name of ['start', 'setup', 'doctor', 'init', 'key', 'init-engine', 'check-engine', 'sandbox'])
      expect(stdout).toMatch(new RegExp(`^  ${name} +\\w`, 'm'));
  });

  it('refuses what it does not know', async () => {
    expect(await ask({}, 'toString')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^parlance: unknown command "toString"\.\n\nUsage/) as string,
    });
  });

  it('has the doctor and the setup of the repository', async () => {
    expect(await ask({}, 'doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Transcription works with: ruler') as string,
    });
    expect(await ask({}, 'setup')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Everything that the settings need is installed') as string,
    });
  });

  it('brings the conformance kit with its recordings', async () => {
    const { code, stdout } = await ask({}, 'check-engine', './engine.js', '--options', '{"unit":"ms"}');
    expect(stdout).toMatch(/^transcription\n {2}ok {6}/);
    // It takes any model and any language, and says of silence how long it is.
    const broken = [...stdout.matchAll(/^ {2}BROKEN {2}(.*)/gm)].map(([, check]) => check);
    expect(broken).toEqual([
      'an unknown model is rejected',
      'silence returns empty text and no language',
      'an unsupported language is rejected',
    ]);
    expect(code).toBe(1);
  });

  it('tells people to type what works here', async () => {
    await writeFile(inside('bare.yaml'), '{}\n');
    const { stdout } = await ask({ PARLANCE_CONFIG: 'bare.yaml' }, 'doctor');
    expect(stdout).toContain('fix: npx @parlance/server setup');
    expect(stdout).not.toContain('npm run');
  });

  it.runIf(process.platform === 'linux')('runs with one arena of the allocator', async () => {
    await using running = start(inside('node_modules/.bin/parlance'), [], {
      node: installed.nodes.newest,
      cwd: installed.project,
      env: { DATA_DIR: inside('data'), TRANSCRIBE_SETUP: 'off', PORT: '0' },
    });
    await addressOf(running);
    const environment = await readFile(`/proc/${running.pid}/environ`, 'utf8');
    expect(environment.split('\0')).toContain('MALLOC_ARENA_MAX=1');
    expect(running.said.stderr).not.toContain('Warning');
  });
});

describe('init-engine', () => {
  const npm = async (folder: string, ...args: string[]) => {
    await using running = start('npm', args, { node: installed.nodes.newest, cwd: folder });
    return await running.ended;
  };

  // Builds with a compiler from the registry, and runs the whole kit.
  it.each(['transcription', 'chat', 'speech'])(
    'writes an engine for %s that is green at once',
    { timeout: 300_000 },
    async (capability) => {
      const name = `my-${capability}`;
      const line = ['parlance', 'init-engine', name, '--capability', capability];
      await using made = start('npx', line, { node: installed.nodes.newest, cwd: installed.project });
      const { code, stdout, stderr } = await made.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`\n  cd ${name}\n  npm install\n  npm test\n`);
      const manifest = JSON.parse(await readFile(inside(name, 'package.json'), 'utf8')) as { devDependencies: object };
      expect(manifest.devDependencies).toMatchObject({
        '@parlance/server': expect.stringMatching(/^file:\.\.\/\.\.\/parlance-server-[\d.]+\.tgz$/) as string,
      });
      // The three need the same packages.
      const first = inside('my-transcription/node_modules');
      if (existsSync(first)) await symlink(first, inside(name, 'node_modules'));
      else {
        const installing = await npm(inside(name), 'install', ...quietly);
        expect(installing.code, installing.stderr).toBe(0);
      }
      const tested = await npm(inside(name), 'test');
      expect(tested.stdout).toContain(`\n${capability}\n  ok `);
      expect(tested.stdout).not.toContain('BROKEN');
      expect(tested.code).toBe(0);
    },
  );
});

describe('the tests of the guide for contract tests', () => {
  const tests = blockWith('docs/guides/contract-testing.md', 'js', '// app.test.mjs');
  let folder: string;

  beforeAll(async () => {
    folder = inside('recipe');
    // As `npm init -y` of today writes it.
    await writeFiles(folder, { 'package.json': { type: 'commonjs' }, 'parlance.config.yaml': 'nonsense: true\n' });
    await symlink(inside('node_modules'), join(folder, 'node_modules'));
  });

  it('pass as they are written', async () => {
    await writeFile(join(folder, 'app.test.mjs'), tests);
    await using running = start('node', ['--test'], { node: installed.nodes.newest, cwd: folder, env: {} });
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/pass 2\n/);
    expect(code).toBe(0);
  });

  it('fail as a command when one of them fails', async () => {
    await writeFile(join(folder, 'app.test.mjs'), tests.replace("text, 'Hello'", "text, 'Goodbye'"));
    const line = ['parlance', 'sandbox', '--', 'node', '--test'];
    await using running = start('npx', line, { node: installed.nodes.newest, cwd: folder, env: {} });
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/fail 1\n/);
    expect(code).toBe(1);
  });
});

// The last: from here on, the project has a whisper-cli.
const stoodFor = builtTarball === undefined ? (['whisper-cli', 'whisper-host'] as const) : [];
describeWith(stoodFor, 'beside the package with the programs for this platform', (found) => {
  let whisper: string;
  let model: string;

  beforeAll(async () => {
    const directory = join(installed.project, '..');
    whisper = await installPrograms(installed.project, builtTarball ?? (await packPrograms(directory, found)));
    model = inside('tones.bin');
    await writeToneModel(model);
    await writeFile(
      inside('local.yaml'),
      `engines: { local: { use: whisper-cli, models: [{ id: tones, file: ${model} }] } }\n`,
    );
  });

  const parlance = (args: readonly string[], env: Readonly<Record<string, string>> = {}, path = '') => {
    const own = { DATA_DIR: inside('data-whisper'), PARLANCE_CONFIG: 'local.yaml', PORT: '0', ...env };
    const options = { node: installed.nodes.newest, cwd: installed.project, env: own, path };
    return start(inside('node_modules/.bin/parlance'), args, options);
  };

  it('recordings are transcribed at once, without any program on the PATH', async () => {
    await using running = parlance([]);
    const client = createClient({ baseUrl: await addressOf(running) });
    for (let time = 0; time < 2; time += 1) expect(await client.transcribe(wav)).toMatchObject({ text: 'alpha' });
    const children = childrenOf(running.pid).map(({ commandLine }) => commandLine);
    expect(children).toContainEqual(expect.stringContaining(`${whisper}/bin/whisper-host ${model}`));
    expect(running.said.stderr).not.toContain('building');
  });

  it('the doctor says which program is used', async () => {
    await using running = parlance(['doctor']);
    const { stdout } = await running.ended;
    expect(stdout).toMatch(new RegExp(`ok +whisper-cli +\\S+, ${whisper}/bin/whisper-cli, from its package\n`));
    expect(stdout).toContain(`${whisper}/bin/whisper-host`);
  });

  it('it is used before what is on the PATH, and after WHISPER_CLI', async () => {
    const other = inside('other/whisper-cli');
    await writeFiles(inside('other'), { 'whisper-cli': '#!/bin/sh\necho version: 0.0.1\n' });
    await chmod(other, 0o755);
    await using onPath = parlance(['doctor'], {}, inside('other'));
    expect((await onPath.ended).stdout).toContain(`${whisper}/bin/whisper-cli, from its package\n`);
    await using named = parlance(['doctor'], { WHISPER_CLI: other });
    expect((await named.ended).stdout).toContain(`0.0.1, ${other}, from WHISPER_CLI\n`);
  });

  // Run by the release workflow: the build takes 15 minutes of processor time.
  const describeInRelease = builtTarball === undefined ? () => {} : describe;
  describeInRelease('its programs', () => {
    it('load nothing from the working directory', async () => {
      const marker = inside('hostile-was-here');
      const source = `#include <stdio.h>
        __attribute__((constructor)) static void run(void) { fclose(fopen("${marker}", "w")); }
        int ggml_backend_score(void) { return 1 << 30; }\n`;
      await writeFiles(inside('hostile'), { 'evil.c': source });
      const names = [
        'libggml-cpu-evil',
        'libggml-blas',
        'libggml-cpu',
        'libgomp',
        'libstdc++',
        'libggml-base',
        'libwhisper',
      ];
      for (const name of names) {
        const libraries = ['', '.0', '.1', '.6'].map((version) => inside(`hostile/${name}.so${version}`));
        await run('cc', ['-shared', '-fPIC', inside('hostile/evil.c'), '-o', libraries[0]!]);
        for (const path of libraries.slice(1)) await cp(libraries[0]!, path);
      }
      const env = { GGML_BACKEND_PATH: inside('hostile/libggml-blas.so'), PATH: '/usr/bin:/bin' };
      const call = promisify(execFile)(
        join(whisper, 'bin/whisper-cli'),
        ['-np', '-m', model, '-f', inside('recording.wav')],
        {
          ...{ cwd: inside('hostile'), env },
        },
      );
      expect((await call).stdout).toContain('alpha');
      const host = spawn(join(whisper, 'bin/whisper-host'), [model], { cwd: inside('hostile'), env, stdio: 'pipe' });
      const question = { id: 1, wavPath: inside('recording.wav'), startMs: 0, endMs: 1000, language: 'en', threads: 1 };
      host.stdin.end(`${JSON.stringify(question)}\n`);
      const [first] = (await once(host.stdout, 'data')) as [Buffer];
      expect(first.toString()).toContain('{"ready":true}');
      host.kill('SIGKILL');
      expect(existsSync(marker)).toBe(false);
    });

    it('find their libraries beside them, and need no newer glibc than the package says', async () => {
      const needed = Number(/^2\.(\d+)$/.exec(manifestOf(whisper).parlance.glibc)?.[1]);
      for (const name of readdirSync(join(whisper, 'bin'))) {
        const headers = await run('objdump', ['-p', join(whisper, 'bin', name)]);
        const path = /^ *R(?:UN)?PATH +(.*)$/m.exec(headers)?.[1];
        if (name !== 'libgomp.so.1') expect([name, path]).toEqual([name, '$ORIGIN']);
        const versions = [...headers.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
        expect(Math.max(...versions), name).toBeLessThanOrEqual(needed);
      }
    });

    it('have a variant for every processor, and the licenses of what they contain', () => {
      const variants = readdirSync(join(whisper, 'bin')).filter((name) => name.startsWith('libggml-cpu-'));
      expect(variants.length).toBe(process.arch === 'x64' ? 14 : 6);
      for (const name of ['LICENSE', 'NOTICE']) expect(existsSync(join(whisper, name))).toBe(true);
    });
  });
});

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly parlance: { readonly glibc: string } };
