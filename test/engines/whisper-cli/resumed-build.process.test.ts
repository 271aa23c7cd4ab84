/** A build that was interrupted: the next one continues with the objects that are there. */
import { spawn } from 'node:child_process';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildWhisper, removeUnfinishedBuild } from '../../../engines/whisper-cli/build.ts';
import { acquireLock, lockOf } from '../../../lib/file-lock.ts';
import { alive, runningChildren } from '../../deployment/processes.ts';
import { buildOn, fakeSource, machine, pathWith, recordingLog, temporaryDirectory } from './support.ts';
import { entriesOf } from '../../support/temporary.ts';

const inSteps = { ...machine, cmake: 'cmake-in-steps' };

/** The objects that were compiled, in order. */
const compiled = (log: ReturnType<typeof recordingLog>): string[] =>
  log.entries.flatMap(({ facts }) => /CXX object (\S+)/.exec(JSON.stringify(facts))?.[1]?.replace(/"}$/, '') ?? []);

/** Stopped in the middle of its second object. `again` is the next build, whose npm has no network. */
async function interruptedBuild() {
  const home = await temporaryDirectory();
  const controller = new AbortController();
  const { build, dataDir, log } = await buildOn(inSteps, { signal: controller.signal });
  const first = buildWhisper({ ...build, env: { ...build.env, HOME: home } });
  await log.logged(({ facts }) => JSON.stringify(facts).includes('two.o'));
  controller.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  await writeFile(join(home, 'go-on'), '');
  const [left = ''] = (await entriesOf(dataDir)).filter((name) => name.startsWith('whisper-build-'));
  const laterLog = recordingLog();
  const env = { HOME: home, PATH: await pathWith({ ...inSteps, npm: 'npm-offline' }) };
  const again = { ...build, env, log: laterLog, signal: new AbortController().signal };
  return { again, build, dataDir, left: join(dataDir, left), log: laterLog };
}

test('what was compiled is kept, without npm, and only the rest is compiled', async () => {
  const { again, dataDir, left, log } = await interruptedBuild();
  expect(left).toMatch(/\/whisper-build-[0-9a-f]{16}$/);
  await buildWhisper(again);
  expect(compiled(log)).toEqual(['two.o', 'three.o']);
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin', 'bin/whisper-cli']);
});

test('a build that cannot be resumed begins again', async () => {
  const { again, build, dataDir, left, log } = await interruptedBuild();
  await writeFile(join(left, 'out/one.o'), 'damaged');
  await buildWhisper({ ...again, env: { ...again.env, PATH: build.env.PATH } });
  expect(log.entries.map(({ message }) => message)).toContain('cannot resume an interrupted build; starting over');
  expect(compiled(log)).toEqual(['one.o', 'two.o', 'three.o']);
  expect(await entriesOf(dataDir, { recursive: true })).toEqual(['bin', 'bin/whisper-cli']);
});

describe('an interrupted build is removed, not resumed,', () => {
  test('that is a week old', async () => {
    const { again, build, dataDir, left, log } = await interruptedBuild();
    const old = new Date(Date.now() - 8 * 24 * 3_600_000);
    await utimes(left, old, old);
    await buildWhisper({ ...again, env: { ...again.env, PATH: build.env.PATH } });
    expect(compiled(log)).toEqual(['one.o', 'two.o', 'three.o']);
    expect(await entriesOf(dataDir)).toEqual(['bin']);
  });

  test('that is of another source', async () => {
    const { again, dataDir, left } = await interruptedBuild();
    const source = { ...fakeSource, integrity: 'sha512-another' };
    await expect(buildWhisper({ ...again, source })).rejects.toThrow('ENOTFOUND');
    expect(await entriesOf(dataDir)).not.toContain(left.slice(dataDir.length + 1));
  });

  test('when nothing is to be built any more, unless one is running', async () => {
    const { dataDir, left } = await interruptedBuild();
    const options = { signal: new AbortController().signal };
    const lock = await acquireLock(lockOf(join(dataDir, 'bin/whisper-cli')), options);
    await removeUnfinishedBuild(dataDir);
    expect(await entriesOf(dataDir)).toEqual(['bin', left.slice(dataDir.length + 1)]);
    lock[Symbol.dispose]();
    await removeUnfinishedBuild(dataDir);
    expect(await entriesOf(dataDir)).toEqual(['bin']);
    await removeUnfinishedBuild(join(dataDir, 'absent'));
  });
});

test('the tools of a build end with the service that is SIGKILLed: its lock is free then', async () => {
  const { build } = await buildOn({ ...machine, cmake: 'cmake-endless' });
  const script = `
    import { buildWhisper } from '${new URL('../../../engines/whisper-cli/build.ts', import.meta.url).href}';
    import { streamProgram } from '${new URL('../../../src/system/child-process/stream-program.ts', import.meta.url).href}';
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const { signal } = new AbortController();
    await buildWhisper({ ...JSON.parse(process.argv[1]), start: streamProgram, log, signal, progress() {} });`;
  const args = ['--input-type=module', '-e', script, JSON.stringify(build)];
  const service = spawn(process.execPath, args, { stdio: 'inherit' });
  onTestFinished(() => void service.kill('SIGKILL'));
  const tools = await runningChildren(Number(service.pid), /setInterval/);
  expect(tools.length).toBeGreaterThan(2);
  service.kill('SIGKILL');
  await expect.poll(() => alive(tools)).toEqual([]);
});
